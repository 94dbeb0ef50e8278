//! What an operation is to its author: a trait over safe views of the host's arrays.

use std::ffi::CStr;
use std::fmt;
use std::slice;

use crate::abi::{BsTensor, FLOAT32, FLOAT64};
use crate::real::Real;

/// An operation with one output. It is shared by threads.
pub trait Operation: Send + Sync {
    /// What users call it.
    fn name(&self) -> &'static str;

    fn description(&self) -> &'static str;

    fn num_inputs(&self) -> usize;

    /// Refuse inputs that it does not take. Their number is checked before.
    fn validate_inputs(&self, inputs: &[Tensor]) -> Result<(), Error>;

    /// Whether `validate_inputs` looks at shapes and dtypes only, so that the host may remember its answer.
    fn validates_by_shape(&self) -> bool {
        true
    }

    fn output_shape(&self, shapes: &[&[i64]]) -> Result<Vec<i64>, Error> {
        Ok(shapes[0].to_vec())
    }

    fn output_dtype(&self, dtypes: &[DType]) -> Result<DType, Error> {
        Ok(dtypes[0])
    }

    fn output_device<'a>(&self, devices: &[&'a CStr]) -> Result<&'a CStr, Error> {
        Ok(devices[0])
    }

    /// Write the output.
    fn forward(&self, inputs: &[Tensor], output: &mut TensorMut) -> Result<(), Error>;

    /// Its derivative; None if it has none.
    fn create_gradient_function(&self) -> Option<Box<dyn GradientFunction>> {
        None
    }
}

/// The derivative of an operation.
pub trait GradientFunction {
    /// Write the gradient of each input, given that of the output.
    fn backward(&self, grad_output: &Tensor, inputs: &[Tensor], grad_inputs: &mut [TensorMut]) -> Result<(), Error>;
}

/// Why an operation did not do what was asked.
#[derive(Debug, PartialEq)]
pub enum Error {
    /// It does not take these inputs.
    Invalid(String),
    /// It failed.
    Failed(String),
}

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DType {
    Float32,
    Float64,
    /// Any other, by its number in the header: no operation here computes with it.
    Other(i32),
}

impl DType {
    pub fn from_code(code: i32) -> DType {
        match code {
            FLOAT32 => DType::Float32,
            FLOAT64 => DType::Float64,
            other => DType::Other(other),
        }
    }

    pub fn code(self) -> i32 {
        match self {
            DType::Float32 => FLOAT32,
            DType::Float64 => FLOAT64,
            DType::Other(code) => code,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let names = [
            "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "bool",
        ];
        let at = usize::try_from(self.code() - 1).unwrap_or(usize::MAX);
        f.write_str(names.get(at).unwrap_or(&"an unknown dtype"))
    }
}

/// An array to read: contiguous, in the memory of this process.
pub struct Tensor<'a>(&'a BsTensor);

/// An array to write.
pub struct TensorMut<'a>(&'a mut BsTensor);

impl<'a> Tensor<'a> {
    /// # Safety
    /// The descriptor must be one that the host passed, and its array must live as long.
    pub unsafe fn new(raw: &'a BsTensor) -> Self {
        Tensor(raw)
    }

    pub fn shape(&self) -> &'a [i64] {
        if self.0.ndim == 0 {
            return &[];
        }
        unsafe { slice::from_raw_parts(self.0.shape, self.0.ndim as usize) }
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.0.size as usize
    }

    pub fn dtype(&self) -> DType {
        DType::from_code(self.0.dtype)
    }

    pub fn device(&self) -> &'a CStr {
        unsafe { CStr::from_ptr(self.0.device) }
    }

    /// The elements, in C order.
    ///
    /// # Panics
    /// If `T` is not their type.
    pub fn values<T: Real>(&self) -> &'a [T] {
        assert_eq!(self.dtype(), T::DTYPE, "elements of a tensor");
        if self.size() == 0 {
            return &[];
        }
        unsafe { slice::from_raw_parts(self.0.data.cast(), self.size()) }
    }
}

impl<'a> TensorMut<'a> {
    /// # Safety
    /// As for `Tensor::new`; and nobody else may look at the array meanwhile.
    pub unsafe fn new(raw: &'a mut BsTensor) -> Self {
        TensorMut(raw)
    }

    /// The elements, in C order.
    ///
    /// # Panics
    /// If `T` is not their type.
    pub fn values<T: Real>(&mut self) -> &mut [T] {
        assert_eq!(DType::from_code(self.0.dtype), T::DTYPE, "elements of a tensor");
        if self.0.size == 0 {
            return &mut [];
        }
        unsafe { slice::from_raw_parts_mut(self.0.data.cast(), self.0.size as usize) }
    }
}

/// Refuse an input that is not of floating point.
pub fn expect_floats(name: &str, input: usize, tensor: &Tensor) -> Result<(), Error> {
    match tensor.dtype() {
        DType::Float32 | DType::Float64 => Ok(()),
        other => Err(Error::Invalid(format!("{name} takes float32 or float64, not {other} for input {input}"))),
    }
}

/// Call a function that is generic over the type of the elements, for that of a tensor which `expect_floats` took.
macro_rules! for_dtype {
    ($tensor:expr, $function:ident($($argument:expr),*)) => {
        match $tensor.dtype() {
            $crate::operation::DType::Float32 => $function::<f32>($($argument),*),
            _ => $function::<f64>($($argument),*),
        }
    };
}
pub(crate) use for_dtype;
