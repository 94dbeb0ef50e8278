//! The types that operations compute with, and an exponential that compilers turn into vector code.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::operation::DType;

/// `f32` or `f64`.
pub trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const DTYPE: DType;
    /// The greatest argument of `exp`; greater ones count as this one, and so do smaller ones than its negative.
    const MOST: Self;

    fn from_f64(value: f64) -> Self;
    fn to_f64(self) -> f64;
    fn abs(self) -> Self;

    /// This times `factor` plus `term`: one instruction and one rounding where FUSED, else two.
    fn muladd<const FUSED: bool>(self, factor: Self, term: Self) -> Self;

    /// e to the power of this, within 2 units in the last place; NaN for NaN.
    ///
    /// With n the nearest whole number to x / ln 2 and r = x - n ln 2, it is 2^n e^r. Adding 1.5 * 2^(mantissa bits)
    /// rounds to a whole number and leaves it in the lowest bits, from where a shift makes 2^n of it. There is neither a
    /// branch nor a call in it. Source of the float32 polynomial: Cephes, expf.c; float64 has Taylor's, to r^13.
    fn exp<const FUSED: bool>(self) -> Self;
}

impl Real for f32 {
    const DTYPE: DType = DType::Float32;
    const MOST: f32 = 87.0;

    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }

    #[inline(always)]
    fn muladd<const FUSED: bool>(self, factor: f32, term: f32) -> f32 {
        if FUSED {
            self.mul_add(factor, term)
        } else {
            self * factor + term
        }
    }

    #[inline(always)]
    fn exp<const FUSED: bool>(self) -> f32 {
        const ROUND: f32 = 12_582_912.0;
        let x = limit(self);
        let shifted = x.muladd::<FUSED>(std::f32::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = n.muladd::<FUSED>(2.121_944_4e-4, n.muladd::<FUSED>(-0.693_359_4, x));
        let coefficients = [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1];
        let p = coefficients.iter().fold(1.987_569_1e-4, |sum: f32, &c| sum.muladd::<FUSED>(r, c));
        let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
        (p.muladd::<FUSED>(r * r, r) + 1.0) * power
    }
}

impl Real for f64 {
    const DTYPE: DType = DType::Float64;
    const MOST: f64 = 708.0;

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    fn muladd<const FUSED: bool>(self, factor: f64, term: f64) -> f64 {
        if FUSED {
            self.mul_add(factor, term)
        } else {
            self * factor + term
        }
    }

    #[inline(always)]
    fn exp<const FUSED: bool>(self) -> f64 {
        const ROUND: f64 = 6_755_399_441_055_744.0;
        const FACTORIALS: [f64; 13] = [
            479_001_600.0,
            39_916_800.0,
            3_628_800.0,
            362_880.0,
            40_320.0,
            5_040.0,
            720.0,
            120.0,
            24.0,
            6.0,
            2.0,
            1.0,
            1.0,
        ];
        let x = limit(self);
        let shifted = x.muladd::<FUSED>(std::f64::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = n.muladd::<FUSED>(-1.428_606_820_309_417_2e-6, n.muladd::<FUSED>(-6.931_457_519_531_25e-1, x));
        let p = FACTORIALS.iter().fold(1.0 / 6_227_020_800.0, |sum: f64, f| sum.muladd::<FUSED>(r, 1.0 / f));
        let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
        p * power
    }
}

/// Hold an argument of `exp` within where it differs from 0 and infinity; NaN stays.
#[inline(always)]
fn limit<T: Real>(x: T) -> T {
    let low = if x < -T::MOST { -T::MOST } else { x };
    if low > T::MOST {
        T::MOST
    } else {
        low
    }
}

#[cfg(test)]
mod tests {
    use super::Real;

    fn within_two_units<const FUSED: bool>() {
        for step in -8700..=8700 {
            let x = step as f32 / 100.0;
            let (found, exact) = (Real::exp::<FUSED>(x), f64::from(x).exp());
            assert!((f64::from(found) / exact - 1.0).abs() < 2.0 * f64::from(f32::EPSILON), "exp({x}) = {found}");
            let x = f64::from(step) / 12.5;
            let (found, exact) = (Real::exp::<FUSED>(x), x.exp());
            assert!((found / exact - 1.0).abs() < 4.0 * f64::EPSILON, "exp({x}) = {found}, not {exact}");
        }
    }

    #[test]
    fn exp_is_within_two_units_in_the_last_place() {
        within_two_units::<false>();
        within_two_units::<true>();
    }

    #[test]
    fn exp_of_nan_is_nan_and_far_arguments_stay_finite() {
        assert!(Real::exp::<false>(f32::NAN).is_nan() && Real::exp::<true>(f64::NAN).is_nan());
        assert!(Real::exp::<true>(f32::INFINITY).is_finite() && Real::exp::<true>(f32::NEG_INFINITY) > 0.0);
        assert!(Real::exp::<false>(f64::INFINITY).is_finite() && Real::exp::<false>(f64::NEG_INFINITY) > 0.0);
    }
}
