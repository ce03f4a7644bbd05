#![no_main]
mod inputs;
libfuzzer_sys::fuzz_target!(|data: &[u8]| { inputs::edges(Some(topostream_readers::Kind::RawU32), data); });
