//! Loops compiled for several CPUs in one library, and the choice of what this one can do.
//!
//! A library is built for any CPU of its kind, which for x86-64 means vectors of four float32 and no fused
//! multiply-add. `vectorised!` compiles a loop again for what newer ones have.

/// What a loop may use of the CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Vectors {
    /// What any CPU of this kind has.
    Any,
    /// Eight float32 and fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Sixteen.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Vectors {
    /// Return what this CPU has, the best last. The standard library asks the CPU once and remembers the answer.
    pub fn available() -> impl Iterator<Item = Vectors> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let fused = is_x86_feature_detected!("fma");
            [
                (fused && is_x86_feature_detected!("avx2"), Vectors::Avx2),
                (fused && is_x86_feature_detected!("avx512f"), Vectors::Avx512),
            ]
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide = [];
        std::iter::once(Vectors::Any).chain(wide.into_iter().filter(|one| one.0).map(|one| one.1))
    }

    /// Return the best that this CPU has.
    pub fn widest() -> Vectors {
        Vectors::available().last().unwrap_or(Vectors::Any)
    }
}

/// Whether a CPU of this kind always has a fused multiply-add: elsewhere it would be a call for each element.
pub const FUSED_ANYWHERE: bool = cfg!(target_arch = "aarch64");

/// Define a function that runs a loop with the vectors that its first argument names, which this CPU must have.
///
/// `vectorised!(f = each(x: &[T]))` defines `f<T: Real>(vectors: Vectors, x: &[T])`, which calls `each::<T, FUSED>(x)`; FUSED
/// says whether multiply-add is one instruction, and `each` must be `#[inline(always)]`.
macro_rules! vectorised {
    ($name:ident = $each:ident($($argument:ident: $type:ty),*)) => {
        fn $name<T: $crate::real::Real>(vectors: $crate::vectors::Vectors, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2<T: $crate::real::Real>($($argument: $type),*) {
                $each::<T, true>($($argument),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,fma")]
            unsafe fn avx512<T: $crate::real::Real>($($argument: $type),*) {
                $each::<T, true>($($argument),*)
            }
            match vectors {
                #[cfg(target_arch = "x86_64")]
                $crate::vectors::Vectors::Avx2 => unsafe { avx2($($argument),*) },
                #[cfg(target_arch = "x86_64")]
                $crate::vectors::Vectors::Avx512 => unsafe { avx512($($argument),*) },
                $crate::vectors::Vectors::Any => {
                    $each::<T, { $crate::vectors::FUSED_ANYWHERE }>($($argument),*)
                }
            }
        }
    };
}
pub(crate) use vectorised;

#[cfg(test)]
mod tests {
    use super::Vectors;

    #[test]
    fn any_comes_first_and_the_widest_last() {
        let all: Vec<_> = Vectors::available().collect();
        assert_eq!((all[0], all[all.len() - 1]), (Vectors::Any, Vectors::widest()));
    }
}
