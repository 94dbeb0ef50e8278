//! rust_gelu: the Gaussian error linear unit, in its tanh form.
//!
//! gelu(x) = x / 2 * (1 + tanh(u)) with u = sqrt(2 / pi) * (x + 0.044715 x^3) (Hendrycks and Gimpel, 2016). As
//! (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), one exponential and one division do.

use crate::operation::{expect_floats, for_dtype, Error, GradientFunction, Operation, Tensor, TensorMut};
use crate::real::Real;
use crate::vectors::{vectorised, Vectors};

const SCALE: f64 = 0.797_884_560_802_865_4;
const CUBIC: f64 = 0.044_715;

pub struct Gelu;

impl Operation for Gelu {
    fn name(&self) -> &'static str {
        "rust_gelu"
    }

    fn description(&self) -> &'static str {
        "The Gaussian error linear unit, tanh form"
    }

    fn num_inputs(&self) -> usize {
        1
    }

    fn validate_inputs(&self, inputs: &[Tensor]) -> Result<(), Error> {
        expect_floats(self.name(), 0, &inputs[0])
    }

    fn forward(&self, inputs: &[Tensor], output: &mut TensorMut) -> Result<(), Error> {
        for_dtype!(inputs[0], gelu(Vectors::widest(), inputs[0].values(), output.values()));
        Ok(())
    }

    fn create_gradient_function(&self) -> Option<Box<dyn GradientFunction>> {
        Some(Box::new(GeluGradient))
    }
}

/// Return -2u, the exponent.
#[inline(always)]
fn exponent<T: Real, const FUSED: bool>(x: T) -> T {
    x * (x * x).muladd::<FUSED>(T::from_f64(-2.0 * SCALE * CUBIC), T::from_f64(-2.0 * SCALE))
}

vectorised!(gelu = each_gelu(x: &[T], y: &mut [T]));

#[inline(always)]
fn each_gelu<T: Real, const FUSED: bool>(x: &[T], y: &mut [T]) {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    for (y, &x) in y.iter_mut().zip(x) {
        let power = exponent::<T, FUSED>(x);
        let value = x / (one + power.exp::<FUSED>());
        // Further to the left it is 0 for all that the type can tell, and minus infinity is no exception.
        *y = if power > T::MOST { -zero } else { value };
    }
}

/// The derivative s + x s (1 - s) 2u', with s = 1 / (1 + exp(-2u)) and u' = sqrt(2 / pi) * (1 + 3 * 0.044715 x^2).
struct GeluGradient;

impl GradientFunction for GeluGradient {
    fn backward(&self, grad_output: &Tensor, inputs: &[Tensor], grad_inputs: &mut [TensorMut]) -> Result<(), Error> {
        for_dtype!(inputs[0], write(inputs, grad_output, grad_inputs));
        Ok(())
    }
}

fn write<T: Real>(inputs: &[Tensor], grad_output: &Tensor, grad_inputs: &mut [TensorMut]) {
    gradient::<T>(Vectors::widest(), inputs[0].values(), grad_output.values(), grad_inputs[0].values());
}

vectorised!(gradient = each_gradient(x: &[T], up: &[T], down: &mut [T]));

#[inline(always)]
fn each_gradient<T: Real, const FUSED: bool>(x: &[T], up: &[T], down: &mut [T]) {
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    for ((down, &x), &up) in down.iter_mut().zip(x).zip(up) {
        let power = exponent::<T, FUSED>(x);
        let s = one / (one + power.exp::<FUSED>());
        let inner = (x * x).muladd::<FUSED>(T::from_f64(6.0 * SCALE * CUBIC), T::from_f64(2.0 * SCALE));
        let slope = (x * s * (one - s)).muladd::<FUSED>(inner, s);
        let right = if power < -T::MOST { one } else { slope };
        *down = up * if power > T::MOST { zero } else { right };
    }
}

#[cfg(test)]
mod tests {
    use super::{gelu, gradient, CUBIC, SCALE};
    use crate::vectors::Vectors;

    fn exact(x: f64) -> f64 {
        0.5 * x * (1.0 + (SCALE * (x + CUBIC * x * x * x)).tanh())
    }

    #[test]
    fn values() {
        for vectors in Vectors::available() {
            let mut y = [9.0f32; 5];
            gelu(vectors, &[-2.0, -1.0, 0.0, 1.0, 2.0], &mut y);
            for (found, exact) in y.iter().zip([-0.045402, -0.158808, 0.0, 0.841192, 1.954598]) {
                assert!((found - exact).abs() < 5e-7, "{vectors:?}: {found} is not {exact}");
            }
        }
    }

    /// Within 1e-14 in float64; in float32 within 4 units in the last place of the greater of 1 and the value.
    #[test]
    fn both_types_follow_the_tanh_form() {
        let x: Vec<f64> = (-1200..=1200).map(|step| f64::from(step) / 100.0).collect();
        let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        for vectors in Vectors::available() {
            let mut y = vec![9.0; x.len()];
            gelu(vectors, &x, &mut y);
            for (&x, &y) in x.iter().zip(&y) {
                assert!((y - exact(x)).abs() <= 1e-14, "{vectors:?}: gelu({x}) = {y}, not {}", exact(x));
            }
            let mut y = vec![9.0f32; x.len()];
            gelu(vectors, &narrow, &mut y);
            for (&x, &y) in narrow.iter().zip(&y) {
                let exact = exact(f64::from(x));
                let most = 4.0 * f64::from(f32::EPSILON) * exact.abs().max(1.0);
                assert!((f64::from(y) - exact).abs() <= most, "{vectors:?}: gelu({x}) = {y}, not {exact}");
            }
        }
    }

    #[test]
    fn a_number_has_the_same_value_wherever_it_stands() {
        for vectors in Vectors::available() {
            let (mut y, mut down) = ([9.0f32; 37], [9.0f64; 37]);
            gelu(vectors, &[0.7; 37], &mut y);
            gradient(vectors, &[0.7; 37], &[2.0; 37], &mut down);
            assert!(y.iter().all(|&one| one == y[0]), "{vectors:?}: {y:?}");
            assert!(down.iter().all(|&one| one == down[0]), "{vectors:?}: {down:?}");
        }
    }

    #[test]
    fn nan_stays_and_infinities_have_their_limits() {
        for vectors in Vectors::available() {
            let mut y = [9.0f32; 3];
            gelu(vectors, &[f32::NAN, f32::NEG_INFINITY, f32::INFINITY], &mut y);
            assert!(y[0].is_nan());
            assert_eq!(y[1..], [0.0, f32::INFINITY]);
            let mut down = [9.0f64; 3];
            gradient(vectors, &[f64::NAN, f64::NEG_INFINITY, f64::INFINITY], &[1.0; 3], &mut down);
            assert!(down[0].is_nan());
            assert_eq!(down[1..], [0.0, 1.0]);
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let x: Vec<f64> = (-600..=600).map(|step| f64::from(step) / 100.0).collect();
        for vectors in Vectors::available() {
            let mut down = vec![9.0; x.len()];
            gradient(vectors, &x, &vec![3.0; x.len()], &mut down);
            for (&x, &found) in x.iter().zip(&down) {
                let slope = (exact(x + 1e-5) - exact(x - 1e-5)) / 2e-5;
                assert!((found - 3.0 * slope).abs() < 1e-8, "{vectors:?}: at {x}: {found}, not {}", 3.0 * slope);
            }
        }
    }
}
