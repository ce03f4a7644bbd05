#![no_main]
mod format_shared;
libfuzzer_sys::fuzz_target!(|data: &[u8]| { format_shared::formatted(data); });
