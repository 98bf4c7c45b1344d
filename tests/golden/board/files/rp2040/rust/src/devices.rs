//! Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
//!
//! The devices of 'rp2040': the enumeration of `include/atoll_devices.h`.
#![cfg_attr(rustfmt, rustfmt_skip)]

/// Ordinals.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Device {
    CORE0 = 0,
    CORE1 = 1,
    DMA = 2,
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
pub const TABLE: [Row; 3] = [
    Row { device: Device::CORE0, label: "core0", kind: "cpu", device_type: 1, device_id: 0, generator: "llvm", accelerator: "", loader: "xip" },
    Row { device: Device::CORE1, label: "core1", kind: "cpu", device_type: 1, device_id: 1, generator: "llvm", accelerator: "", loader: "xip" },
    Row { device: Device::DMA, label: "dma", kind: "master", device_type: 12, device_id: 0, generator: "", accelerator: "", loader: "none" },
];
