//! Made from rp2040.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.
//!
//! The networks of 'rp2040', called from Rust. Link the objects in `models/`, and the runtime in `src/`.
#![no_std]
#![allow(non_snake_case)]
#![cfg_attr(rustfmt, rustfmt_skip)]

pub mod devices;

/// What a run returned instead of 0: a code of `include/atoll_status.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub i32);

/// The network 'tiny'.
pub mod tiny {
    use super::Status;

    #[repr(C)]
    struct Inputs {
        input_image: *const i8,
    }

    #[repr(C)]
    struct Outputs {
        output_scores: *mut i8,
        output_boxes: *mut i32,
    }

    extern "C" {
        fn tiny_run(
            inputs: *const Inputs,
            outputs: *const Outputs,
        ) -> i32;
    }

    /// The right to run the network. Its buffers are static: there may be one at a time.
    pub struct Network(());

    impl Network {
        /// Returns the right to run the network.
        ///
        /// # Safety
        ///
        /// No other one of any network of this image is alive, and `atoll_devices_start` returned 0.
        pub unsafe fn take() -> Self {
            Self(())
        }

        /// Runs the network once.
        pub fn run(
            &mut self,
            input_image: &[i8; 64],
            output_scores: &mut [i8; 10],
            output_boxes: &mut [i32; 4],
        ) -> Result<(), Status> {
            let inputs = Inputs {
                input_image: input_image.as_ptr(),
            };
            let outputs = Outputs {
                output_scores: output_scores.as_mut_ptr(),
                output_boxes: output_boxes.as_mut_ptr(),
            };
            // SAFETY: the arrays have the sizes of the C interface, and nobody else runs a network.
            match unsafe { tiny_run(&inputs, &outputs) } {
                0 => Ok(()),
                code => Err(Status(code)),
            }
        }
    }
}
