import pytest


def backends(selection):
    return [record.name for record in selection.kernels[0].backends]


@pytest.mark.parametrize(
    ("written", "expected", "types"),
    [
        ("- MatMul", ["MatMulFastRTL", "MatMulRTL", "AcmeMatMul", "MatMulHLS"], ("rtl", "hls")),
        ("- MatMul: hls", ["AcmeMatMul", "MatMulHLS"], ("hls",)),
        ("- MatMul: [hls, rtl]", ["AcmeMatMul", "MatMulHLS", "MatMulFastRTL", "MatMulRTL"], ("hls", "rtl")),
        ("- MatMul: [MatMulRTL, HLS]", ["MatMulRTL", "AcmeMatMul", "MatMulHLS"], ("rtl", "hls")),
        ("- MatMul: matmulhls", ["MatMulHLS"], ("hls",)),
        ("- MatMul: acme-norms:AcmeMatMul", ["AcmeMatMul"], ("hls",)),
        ("- MatMul: [MatMulHLS, ~MatMulASIC]", ["MatMulHLS"], ("hls",)),
        ("- Softmax: [rtl, hls]", ["SoftmaxHLS"], ("hls",)),
        ("- LayerNorm", ["LayerNormHLS"], ("hls",)),
        ("- finn:LayerNorm", ["LayerNorm_hls"], ("hls",)),
        ("- Bare", [], ()),
    ],
)
def test_backends_come_in_order_of_preference(files, registry, written, expected, types):
    selection = files.resolve(f"kernels:\n{written}", registry)
    assert backends(selection) == expected
    found = [backend.backend_type for backend in selection.kernels[0].backends]
    assert tuple(dict.fromkeys(found)) == types


def test_a_preferred_type_that_no_backend_has_is_reported(files, registry):
    (skipped,) = files.resolve("kernels:\n- Softmax: [rtl, hls]", registry).skipped
    assert skipped.endswith(
        "x.yaml:3:15: kernel 'brainsmith:Softmax' has no rtl backend. It has SoftmaxHLS (hls)."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "kernels:\n- Softmax: MatMulHLS",
            [
                "3:14: backend 'brainsmith:MatMulHLS' implements 'brainsmith:MatMul', "
                "not 'brainsmith:Softmax'. It has SoftmaxHLS (hls)."
            ],
        ),
        (
            # Another framework's backend, of a kernel with the same name.
            "kernels:\n- LayerNorm: LayerNorm_hls",
            [
                "3:16: backend 'finn:LayerNorm_hls' implements 'finn:LayerNorm', "
                "not 'brainsmith:LayerNorm'. It has LayerNormHLS (hls)."
            ],
        ),
        (
            # A backend whose name ends in this kernel's backend's name.
            "kernels:\n- MatMul: FancyMatMul_hls",
            [
                "3:13: backend 'acme-norms:FancyMatMul_hls' implements 'acme-norms:FancyMatMul', "
                "not 'brainsmith:MatMul'. It has MatMulFastRTL (rtl), MatMulRTL (rtl), AcmeMatMul (hls), "
                "MatMulHLS (hls)."
            ],
        ),
        (
            "kernels:\n- Softmax: Softmax_hls",
            [
                "3:14: kernel 'brainsmith:Softmax' has no backend 'Softmax_hls'. Did you mean 'SoftmaxHLS'? "
                "It has SoftmaxHLS (hls)."
            ],
        ),
        ("kernels:\n- Bare: hls", ["3:11: kernel 'brainsmith:Bare' has no hls backend. It has none."]),
    ],
)
def test_a_backend_belongs_to_the_kernel_that_it_states(files, registry, text, expected):
    assert files.resolve_errors(text, registry) == [f"x.yaml:{line}" for line in expected]
