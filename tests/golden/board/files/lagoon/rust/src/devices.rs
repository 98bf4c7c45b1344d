//! Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
//!
//! The devices of 'lagoon': the enumeration of `include/atoll_devices.h`.
#![cfg_attr(rustfmt, rustfmt_skip)]

/// Ordinals.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Device {
    CPU = 0,
    NPU = 1,
}

/// A device: its label, DLPack device type and id, code generator and accelerator ("": none), loader:
/// "xip" (its code runs in place), "copy" (its start-up code copies it to RAM), "host" (the host writes it there before
/// the core begins), "external" (what is no part of any image does) or "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub device: Device,
    pub label: &'static str,
    pub kind: &'static str,
    pub device_type: i32,
    pub device_id: i32,
    pub generator: &'static str,
    pub accelerator: &'static str,
    pub loader: &'static str,
}

/// Rows by ordinal.
pub const TABLE: [Row; 2] = [
    Row { device: Device::CPU, label: "cpu", kind: "cpu", device_type: 1, device_id: 0, generator: "llvm", accelerator: "", loader: "xip" },
    Row { device: Device::NPU, label: "npu", kind: "npu", device_type: 12, device_id: 0, generator: "reef", accelerator: "reef", loader: "none" },
];
