//! The structures of `brainsmith_plugin.h`, name for name.

use std::ffi::{c_char, c_void};
use std::mem::size_of;

pub const ABI_VERSION: u32 = 1;
pub const MAX_NDIM: usize = 64;

pub const OK: i32 = 0;
pub const ERROR: i32 = 1;
pub const INVALID_INPUT: i32 = 2;
pub const PANIC: i32 = 3;

pub const FLOAT32: i32 = 1;
pub const FLOAT64: i32 = 2;

pub const VALIDATE_BY_SHAPE: u32 = 1;

#[repr(C)]
pub struct BsTensor {
    pub data: *mut c_void,
    pub shape: *const i64,
    pub strides: *const i64,
    pub size: i64,
    pub dtype: i32,
    pub ndim: i32,
    pub device: *const c_char,
}

#[repr(C)]
pub struct BsCall {
    pub struct_size: u32,
    pub num_inputs: u32,
    pub num_outputs: u32,
    pub reserved: u32,
    pub inputs: *const BsTensor,
    pub outputs: *mut BsTensor,
    pub grad_outputs: *const BsTensor,
    pub grad_inputs: *mut BsTensor,
    pub user_data: *mut c_void,
    pub error: *mut c_char,
    pub error_size: usize,
}

pub type CallFn = unsafe extern "C" fn(*const BsCall) -> i32;
pub type ShapeFn = unsafe extern "C" fn(*const BsCall, u32, *mut i64, *mut i32) -> i32;
pub type DtypeFn = unsafe extern "C" fn(*const BsCall, u32, *mut i32) -> i32;
pub type DeviceFn = unsafe extern "C" fn(*const BsCall, u32, *mut *const c_char) -> i32;

#[repr(C)]
pub struct BsOp {
    pub struct_size: u32,
    pub flags: u32,
    pub name: *const c_char,
    pub description: *const c_char,
    pub num_inputs: u32,
    pub num_outputs: u32,
    pub not_differentiable: u64,
    pub user_data: *mut c_void,
    pub validate: Option<CallFn>,
    pub output_shape: Option<ShapeFn>,
    pub output_dtype: Option<DtypeFn>,
    pub output_device: Option<DeviceFn>,
    pub forward: Option<CallFn>,
    pub backward: Option<CallFn>,
}

#[repr(C)]
pub struct BsPluginTable {
    pub abi_version: u32,
    pub struct_size: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub description: *const c_char,
    pub author: *const c_char,
    pub min_brainsmith: *const c_char,
    pub max_brainsmith: *const c_char,
    pub num_ops: u32,
    pub reserved: u32,
    pub ops: *const *const BsOp,
    pub destroy: Option<unsafe extern "C" fn(*const BsPluginTable)>,
}

#[repr(C)]
pub struct BsHost {
    pub struct_size: u32,
    pub abi_version: u32,
    pub version: *const c_char,
    pub error: *mut c_char,
    pub error_size: usize,
}

// The sizes that the header asserts.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<BsTensor>() == 48);
    assert!(size_of::<BsCall>() == 72);
    assert!(size_of::<BsOp>() == 96);
    assert!(size_of::<BsPluginTable>() == 80);
    assert!(size_of::<BsHost>() == 32);
};
