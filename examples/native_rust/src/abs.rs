//! rust_abs: the absolute value.

use crate::operation::{expect_floats, for_dtype, Error, GradientFunction, Operation, Tensor, TensorMut};
use crate::real::Real;

pub struct Abs;

impl Operation for Abs {
    fn name(&self) -> &'static str {
        "rust_abs"
    }

    fn description(&self) -> &'static str {
        "The absolute value"
    }

    fn num_inputs(&self) -> usize {
        1
    }

    fn validate_inputs(&self, inputs: &[Tensor]) -> Result<(), Error> {
        expect_floats(self.name(), 0, &inputs[0])
    }

    fn forward(&self, inputs: &[Tensor], output: &mut TensorMut) -> Result<(), Error> {
        for_dtype!(inputs[0], abs(inputs[0].values(), output.values()));
        Ok(())
    }

    fn create_gradient_function(&self) -> Option<Box<dyn GradientFunction>> {
        Some(Box::new(AbsGradient))
    }
}

fn abs<T: Real>(x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x.abs();
    }
}

/// The sign of the input; 0 at 0, where there is no derivative.
struct AbsGradient;

impl GradientFunction for AbsGradient {
    fn backward(&self, grad_output: &Tensor, inputs: &[Tensor], grad_inputs: &mut [TensorMut]) -> Result<(), Error> {
        for_dtype!(inputs[0], gradient(inputs[0].values(), grad_output.values(), grad_inputs[0].values()));
        Ok(())
    }
}

fn gradient<T: Real>(x: &[T], up: &[T], down: &mut [T]) {
    let zero = T::from_f64(0.0);
    for ((down, &x), &up) in down.iter_mut().zip(x).zip(up) {
        let side = if x < zero { -up } else { up };
        *down = if x == zero { zero } else { side };
    }
}

#[cfg(test)]
mod tests {
    use super::{abs, gradient};

    #[test]
    fn values() {
        let mut y = [9.0f32; 5];
        abs(&[-2.0, -1.0, 0.0, 1.0, 2.0], &mut y);
        assert_eq!(y, [2.0, 1.0, 0.0, 1.0, 2.0]);
    }

    #[test]
    fn nan_stays_and_infinity_has_a_magnitude() {
        let mut y = [0.0f64; 3];
        abs(&[f64::NAN, f64::NEG_INFINITY, -0.0], &mut y);
        assert!(y[0].is_nan() && y[1] == f64::INFINITY && y[2].is_sign_positive());
    }

    #[test]
    fn the_gradient_is_the_sign_times_what_comes_from_above() {
        let mut down = [9.0f64; 3];
        gradient(&[-2.0, 0.0, 3.0], &[10.0, 20.0, 30.0], &mut down);
        assert_eq!(down, [-10.0, 0.0, 30.0]);
    }
}
