//! rust_clamp: values held between two others, which are tensors of one element.

use crate::operation::{expect_floats, for_dtype, Error, GradientFunction, Operation, Tensor, TensorMut};
use crate::real::Real;

pub struct Clamp;

impl Operation for Clamp {
    fn name(&self) -> &'static str {
        "rust_clamp"
    }

    fn description(&self) -> &'static str {
        "Values between a least and a greatest one; inputs: x, min, max"
    }

    fn num_inputs(&self) -> usize {
        3
    }

    fn validate_inputs(&self, inputs: &[Tensor]) -> Result<(), Error> {
        for (at, tensor) in inputs.iter().enumerate() {
            expect_floats(self.name(), at, tensor)?;
            if tensor.dtype() != inputs[0].dtype() {
                return Err(Error::Invalid(format!(
                    "min and max must be {} as x is, not {} for input {at}",
                    inputs[0].dtype(),
                    tensor.dtype()
                )));
            }
        }
        for (at, name) in [(1, "min"), (2, "max")] {
            if inputs[at].size() != 1 {
                return Err(Error::Invalid(format!(
                    "{name} must have one element, not shape {:?}",
                    inputs[at].shape()
                )));
            }
        }
        for_dtype!(inputs[0], validate_bounds(inputs[1].values(), inputs[2].values()))
    }

    /// It compares the bounds, which are values.
    fn validates_by_shape(&self) -> bool {
        false
    }

    fn forward(&self, inputs: &[Tensor], output: &mut TensorMut) -> Result<(), Error> {
        for_dtype!(inputs[0], clamp(inputs[0].values(), inputs[1].values(), inputs[2].values(), output.values()));
        Ok(())
    }

    fn create_gradient_function(&self) -> Option<Box<dyn GradientFunction>> {
        Some(Box::new(ClampGradient))
    }
}

fn validate_bounds<T: Real>(low: &[T], high: &[T]) -> Result<(), Error> {
    if low[0] <= high[0] {
        return Ok(());
    }
    let (low, high) = (low[0].to_f64(), high[0].to_f64());
    Err(Error::Invalid(format!("min must be at most max, not {low} with max {high}")))
}

fn clamp<T: Real>(x: &[T], low: &[T], high: &[T], y: &mut [T]) {
    let (low, high) = (low[0], high[0]);
    for (y, &x) in y.iter_mut().zip(x) {
        // Comparisons, because `max` and `min` would put a bound in place of NaN.
        let raised = if x < low { low } else { x };
        *y = if raised > high { high } else { raised };
    }
}

/// For x what comes from above, where x is within the bounds; for a bound the sum of it, where the bound took x's place.
struct ClampGradient;

impl GradientFunction for ClampGradient {
    fn backward(&self, grad_output: &Tensor, inputs: &[Tensor], grad_inputs: &mut [TensorMut]) -> Result<(), Error> {
        for_dtype!(inputs[0], write(grad_output, inputs, grad_inputs));
        Ok(())
    }
}

fn write<T: Real>(grad_output: &Tensor, inputs: &[Tensor], grad_inputs: &mut [TensorMut]) {
    let [x, low, high] = [0, 1, 2].map(|at| inputs[at].values::<T>());
    let (below, above) = gradient(x, low[0], high[0], grad_output.values(), grad_inputs[0].values());
    grad_inputs[1].values()[0] = T::from_f64(below);
    grad_inputs[2].values()[0] = T::from_f64(above);
}

const LANES: usize = 8;

/// Write the gradient of x, and return those of the bounds; the sums have as many parts as a vector has lanes.
fn gradient<T: Real>(x: &[T], low: T, high: T, up: &[T], down: &mut [T]) -> (f64, f64) {
    let zero = T::from_f64(0.0);
    let (mut below, mut above) = ([0.0f64; LANES], [0.0f64; LANES]);
    for ((down, x), up) in down.chunks_mut(LANES).zip(x.chunks(LANES)).zip(up.chunks(LANES)) {
        for (lane, ((down, &x), &up)) in down.iter_mut().zip(x).zip(up).enumerate() {
            let (under, over) = (x < low, x > high);
            below[lane] += if under { up.to_f64() } else { 0.0 };
            above[lane] += if over { up.to_f64() } else { 0.0 };
            *down = if under | over { zero } else { up };
        }
    }
    (below.iter().sum(), above.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::{clamp, gradient, validate_bounds};
    use crate::operation::Error;

    #[test]
    fn values() {
        let mut y = [9.0f32; 5];
        clamp(&[-2.0, -1.0, 0.0, 1.0, 2.0], &[-1.0], &[1.0], &mut y);
        assert_eq!(y, [-1.0, -1.0, 0.0, 1.0, 1.0]);
    }

    #[test]
    fn nan_stays_and_infinity_is_held() {
        let mut y = [9.0f64; 3];
        clamp(&[f64::NAN, f64::NEG_INFINITY, f64::INFINITY], &[-1.0], &[1.0], &mut y);
        assert!(y[0].is_nan());
        assert_eq!(y[1..], [-1.0, 1.0]);
    }

    #[test]
    fn what_comes_from_above_goes_to_x_or_to_the_bound_that_took_its_place() {
        let x: Vec<f64> = (-10..=10).map(f64::from).collect();
        let up: Vec<f64> = (1..=21).map(f64::from).collect();
        let mut down = vec![9.0; 21];
        let (below, above) = gradient(&x, -4.0, 7.0, &up, &mut down);
        assert_eq!(below, (1..=6).map(f64::from).sum::<f64>());
        assert_eq!(above, (19..=21).map(f64::from).sum::<f64>());
        assert_eq!(down.iter().sum::<f64>() + below + above, up.iter().sum::<f64>());
        assert_eq!(down[..7], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0]);
    }

    #[test]
    fn bounds_must_be_in_order() {
        assert_eq!(validate_bounds(&[1.0f32], &[1.0]), Ok(()));
        let refused = Error::Invalid("min must be at most max, not 2 with max 1".to_string());
        assert_eq!(validate_bounds(&[2.0f64], &[1.0]), Err(refused));
        assert!(validate_bounds(&[f64::NAN], &[1.0]).is_err());
    }
}
