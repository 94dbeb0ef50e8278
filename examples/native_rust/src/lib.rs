//! A native plugin for BrainSmith: rust_abs, rust_clamp and rust_gelu, with their gradients.
//!
//! `operation.rs` is what an author writes against, `plugin.rs` and `abi.rs` speak to the host; both can be taken as they are.

mod abi;
mod abs;
mod clamp;
mod gelu;
mod operation;
mod plugin;
mod real;
mod vectors;

use std::panic::catch_unwind;
use std::ptr;

use abi::{BsHost, BsPluginTable};
use plugin::{silence_panics, Description, Plugin};

const ABOUT: Description = Description {
    name: "rust_example_plugin",
    version: env!("CARGO_PKG_VERSION"),
    description: "Activations in Rust",
    author: "BrainSmith",
    min_brainsmith: "0.1.0",
};

/// The one function that the host looks for.
///
/// # Safety
/// Only the host calls it.
#[no_mangle]
pub unsafe extern "C" fn create_plugin(_host: *const BsHost) -> *const BsPluginTable {
    silence_panics();
    catch_unwind(|| {
        Plugin::new(&ABOUT, vec![Box::new(abs::Abs), Box::new(clamp::Clamp), Box::new(gelu::Gelu)]).into_table()
    })
    .unwrap_or(ptr::null())
}
