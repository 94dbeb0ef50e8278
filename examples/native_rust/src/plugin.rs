//! From operations to the table that the host reads. Errors become messages, and no panic leaves this library.

use std::any::Any;
use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::size_of;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

use crate::abi::*;
use crate::operation::{DType, Error, Operation, Tensor, TensorMut};

/// What a bundle states about itself.
pub struct Description {
    pub name: &'static str,
    pub version: &'static str,
    pub description: &'static str,
    pub author: &'static str,
    pub min_brainsmith: &'static str,
}

/// A table with all that it points to. The table comes first, so that its address is that of the whole. The vectors do
/// not change any more: the host holds addresses of their elements.
#[repr(C)]
pub struct Plugin {
    table: BsPluginTable,
    texts: Vec<CString>,
    operations: Vec<Box<dyn Operation>>,
    ops: Vec<BsOp>,
    pointers: Vec<*const BsOp>,
}

impl Plugin {
    pub fn new(about: &Description, operations: Vec<Box<dyn Operation>>) -> Box<Plugin> {
        let mut texts = Vec::new();
        let ops: Vec<_> = operations.iter().map(|op| describe(op, &mut texts)).collect();
        let pointers: Vec<*const BsOp> = ops.iter().map(ptr::from_ref).collect();
        let table = BsPluginTable {
            abi_version: ABI_VERSION,
            struct_size: size_of::<BsPluginTable>() as u32,
            name: text(about.name, &mut texts),
            version: text(about.version, &mut texts),
            description: text(about.description, &mut texts),
            author: text(about.author, &mut texts),
            min_brainsmith: text(about.min_brainsmith, &mut texts),
            max_brainsmith: ptr::null(),
            num_ops: pointers.len() as u32,
            reserved: 0,
            ops: pointers.as_ptr(),
            destroy: Some(destroy),
        };
        Box::new(Plugin { table, texts, operations, ops, pointers })
    }

    /// Hand it to the host, which gives it back to `destroy`.
    pub fn into_table(self: Box<Plugin>) -> *const BsPluginTable {
        Box::into_raw(self).cast()
    }

    #[cfg(test)]
    pub fn op(&self, at: usize) -> &BsOp {
        assert_eq!(self.pointers[at], ptr::from_ref(&self.ops[at]));
        assert!(self.texts.len() >= 5 && self.operations.len() == self.ops.len());
        &self.ops[at]
    }
}

unsafe extern "C" fn destroy(table: *const BsPluginTable) {
    let plugin = table.cast_mut().cast::<Plugin>();
    let _ = catch_unwind(AssertUnwindSafe(|| drop(unsafe { Box::from_raw(plugin) })));
}

/// Return a C string that lives as long as the plugin: moving a CString does not move its bytes.
fn text(value: &str, texts: &mut Vec<CString>) -> *const c_char {
    texts.push(CString::new(value).expect("no text has a zero byte"));
    texts[texts.len() - 1].as_ptr()
}

// The host is given the address of the box, because that of a trait object does not fit in one pointer.
#[allow(clippy::borrowed_box)]
fn describe(op: &Box<dyn Operation>, texts: &mut Vec<CString>) -> BsOp {
    BsOp {
        struct_size: size_of::<BsOp>() as u32,
        flags: if op.validates_by_shape() { VALIDATE_BY_SHAPE } else { 0 },
        name: text(op.name(), texts),
        description: text(op.description(), texts),
        num_inputs: op.num_inputs() as u32,
        num_outputs: 1,
        not_differentiable: 0,
        user_data: ptr::from_ref(op).cast_mut().cast::<c_void>(),
        validate: Some(validate),
        output_shape: Some(output_shape),
        output_dtype: Some(output_dtype),
        output_device: Some(output_device),
        forward: Some(forward),
        backward: op.create_gradient_function().is_some().then_some(backward as CallFn),
    }
}

unsafe extern "C" fn validate(call: *const BsCall) -> i32 {
    guarded(call, |op, call| op.validate_inputs(&inputs(call)))
}

unsafe extern "C" fn forward(call: *const BsCall) -> i32 {
    guarded(call, |op, call| {
        let mut output = unsafe { TensorMut::new(&mut *call.outputs) };
        op.forward(&inputs(call), &mut output)
    })
}

unsafe extern "C" fn backward(call: *const BsCall) -> i32 {
    guarded(call, |op, call| {
        let gradient = op.create_gradient_function().ok_or(Error::Failed("it has no gradient".into()))?;
        let grad_output = unsafe { Tensor::new(&*call.grad_outputs) };
        let down = unsafe { std::slice::from_raw_parts_mut(call.grad_inputs, call.num_inputs as usize) };
        let mut down: Vec<_> = down.iter_mut().map(|raw| unsafe { TensorMut::new(raw) }).collect();
        gradient.backward(&grad_output, &inputs(call), &mut down)
    })
}

unsafe extern "C" fn output_shape(call: *const BsCall, _: u32, shape: *mut i64, ndim: *mut i32) -> i32 {
    guarded(call, |op, call| {
        let tensors = inputs(call);
        let shapes: Vec<_> = tensors.iter().map(Tensor::shape).collect();
        let found = op.output_shape(&shapes)?;
        assert!(found.len() <= MAX_NDIM, "a shape of {} dimensions", found.len());
        unsafe {
            ptr::copy_nonoverlapping(found.as_ptr(), shape, found.len());
            *ndim = found.len() as i32;
        }
        Ok(())
    })
}

unsafe extern "C" fn output_dtype(call: *const BsCall, _: u32, dtype: *mut i32) -> i32 {
    guarded(call, |op, call| {
        let dtypes: Vec<DType> = inputs(call).iter().map(Tensor::dtype).collect();
        let found = op.output_dtype(&dtypes)?;
        unsafe { *dtype = found.code() };
        Ok(())
    })
}

unsafe extern "C" fn output_device(call: *const BsCall, _: u32, device: *mut *const c_char) -> i32 {
    guarded(call, |op, call| {
        let tensors = inputs(call);
        let devices: Vec<&CStr> = tensors.iter().map(Tensor::device).collect();
        let found = op.output_device(&devices)?;
        unsafe { *device = found.as_ptr() };
        Ok(())
    })
}

fn inputs(call: &BsCall) -> Vec<Tensor<'_>> {
    let raw = unsafe { std::slice::from_raw_parts(call.inputs, call.num_inputs as usize) };
    raw.iter().map(|one| unsafe { Tensor::new(one) }).collect()
}

/// Run an operation's method; its error, or a panic in it, becomes a status and a message.
unsafe fn guarded(call: *const BsCall, work: impl FnOnce(&dyn Operation, &BsCall) -> Result<(), Error>) -> i32 {
    let call = unsafe { &*call };
    let op = unsafe { &**call.user_data.cast::<Box<dyn Operation>>() };
    let (status, message) = match catch_unwind(AssertUnwindSafe(|| work(op, call))) {
        Ok(Ok(())) => return OK,
        Ok(Err(Error::Invalid(message))) => (INVALID_INPUT, message),
        Ok(Err(Error::Failed(message))) => (ERROR, message),
        Err(payload) => (PANIC, panic_message(payload.as_ref())),
    };
    write_message(&message, call.error, call.error_size);
    status
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let literal = payload.downcast_ref::<&str>().map(|text| text.to_string());
    literal.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it said no more".into())
}

/// Copy as much of a message as fits, with a zero byte at its end.
fn write_message(message: &str, error: *mut c_char, size: usize) {
    if error.is_null() || size == 0 {
        return;
    }
    let length = message.len().min(size - 1);
    unsafe {
        ptr::copy_nonoverlapping(message.as_ptr(), error.cast::<u8>(), length);
        *error.add(length) = 0;
    }
}

/// Keep quiet about panics: they are caught, and reported to the host.
///
/// Without this the standard library prints them, and for that it makes a value that lives as long as the thread, which
/// would keep the library mapped after it was unloaded.
pub fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl Operation for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn description(&self) -> &'static str {
            "It panics"
        }

        fn num_inputs(&self) -> usize {
            1
        }

        fn validate_inputs(&self, _: &[Tensor]) -> Result<(), Error> {
            Err(Error::Invalid("nothing is good enough".into()))
        }

        fn forward(&self, inputs: &[Tensor], _: &mut TensorMut) -> Result<(), Error> {
            panic!("{} elements are too many", inputs[0].size())
        }
    }

    fn call_of(plugin: &Plugin, tensor: &mut BsTensor, error: &mut [u8]) -> BsCall {
        BsCall {
            struct_size: size_of::<BsCall>() as u32,
            num_inputs: 1,
            num_outputs: 1,
            reserved: 0,
            inputs: tensor,
            outputs: tensor,
            grad_outputs: ptr::null(),
            grad_inputs: ptr::null_mut(),
            user_data: plugin.op(0).user_data,
            error: error.as_mut_ptr().cast(),
            error_size: error.len(),
        }
    }

    fn statuses_of(size: usize) -> [(i32, String); 2] {
        let about = Description { name: "b", version: "1.0.0", description: "", author: "", min_brainsmith: "0.1.0" };
        let plugin = Plugin::new(&about, vec![Box::new(Broken)]);
        let mut tensor = BsTensor {
            data: ptr::null_mut(),
            shape: ptr::null(),
            strides: ptr::null(),
            size: 7,
            dtype: FLOAT32,
            ndim: 0,
            device: c"cpu".as_ptr(),
        };
        [plugin.op(0).validate, plugin.op(0).forward].map(|function| {
            let mut error = vec![1u8; size];
            let call = call_of(&plugin, &mut tensor, &mut error);
            let status = unsafe { function.unwrap()(&call) };
            (status, CStr::from_bytes_until_nul(&error).unwrap().to_str().unwrap().to_string())
        })
    }

    #[test]
    fn errors_and_panics_become_statuses_with_messages() {
        let [validated, forwarded] = statuses_of(100);
        assert_eq!(validated, (INVALID_INPUT, "nothing is good enough".to_string()));
        assert_eq!(forwarded, (PANIC, "7 elements are too many".to_string()));
    }

    #[test]
    fn a_message_that_does_not_fit_is_cut() {
        assert_eq!(statuses_of(8)[0].1, "nothing");
        assert_eq!(statuses_of(1)[0].1, "");
    }

    #[test]
    fn an_op_without_a_gradient_function_has_no_backward() {
        let about = Description { name: "b", version: "1.0.0", description: "", author: "", min_brainsmith: "" };
        assert!(Plugin::new(&about, vec![Box::new(Broken)]).op(0).backward.is_none());
    }

    #[test]
    fn a_table_can_be_destroyed() {
        let about = Description { name: "b", version: "1.0.0", description: "", author: "", min_brainsmith: "" };
        let table = Plugin::new(&about, vec![Box::new(Broken)]).into_table();
        unsafe {
            assert_eq!(CStr::from_ptr((*table).version), c"1.0.0");
            (*table).destroy.unwrap()(table);
        }
    }
}
