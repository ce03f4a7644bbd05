//! Compiled kernels on disk, kept between processes (Vulkan's pipeline cache).
//!
//! One file for each kind of adapter and driver, in a folder chosen by the user:
//!
//! ```text
//!   8 bytes  "topopipe"
//!   4 bytes  version of this layout, little-endian
//!   4 bytes  CRC-32C of the rest
//!   …        data of wgpu: its own header with adapter and driver, and the driver's data
//! ```
//!
//! A missing or damaged file, or one of another driver, is ignored and replaced. It is written under a temporary name
//! and then renamed, without a sync: the checksum detects damage after a power failure. Errors of the folder do not
//! fail a run.

use super::health::Health;
use std::fs;
use std::path::{Path, PathBuf};
use topostream_formats::checksum::crc32c;
use topostream_formats::durable::read_own;
use wgpu::Features;

const MAGIC: &[u8; 8] = b"topopipe";
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 16;
/// Maximum size of a file; larger ones are replaced.
const BYTES_MAX: u64 = 64 << 20;

/// The pipeline cache of an open adapter.
#[derive(Debug)]
pub struct DiskCache {
    cache: wgpu::PipelineCache,
    path: PathBuf,
    /// Checksum of the data that was read; `None` if there was none.
    read: Option<u32>,
}

impl DiskCache {
    /// Reads the cache of an adapter from a folder. `None` if the adapter does not support pipeline caches.
    pub fn open(device: &wgpu::Device, health: &Health, info: &wgpu::AdapterInfo, folder: &Path) -> Option<Self> {
        if !device.features().contains(Features::PIPELINE_CACHE) {
            return None;
        }
        let key = wgpu::util::pipeline_cache_key(info)?;
        let driver = crc32c(format!("{} {}", info.driver, info.driver_info).as_bytes());
        let path = folder.join(format!("{key}_{driver:08x}.bin"));
        let data = read_own(&path, BYTES_MAX).ok();
        let data = data.as_deref().and_then(contents);
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("pipelines"), data, fallback: true };
        #[allow(unsafe_code)]
        // SAFETY: the data come from `PipelineCache::get_data`, written by `save` with a checksum; wgpu checks that
        // they are of this adapter and driver, and starts with an empty cache otherwise.
        let cache =
            health.scoped(device, "the pipeline cache", || unsafe { device.create_pipeline_cache(&descriptor) });
        Some(Self { cache: cache.ok()?, path, read: data.map(crc32c) })
    }

    /// The cache, for the creation of pipelines.
    pub fn cache(&self) -> &wgpu::PipelineCache {
        &self.cache
    }

    /// Writes the cache, if it has changed since it was read.
    ///
    /// # Errors
    /// Errors of the folder.
    pub fn save(&self) -> std::io::Result<()> {
        let Some(data) = self.cache.get_data().filter(|data| self.read != Some(crc32c(data))) else { return Ok(()) };
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else { return Ok(()) };
        fs::create_dir_all(folder)?;
        let temporary = folder.join(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
        let written = fs::write(&temporary, file_of(&data)).and_then(|()| fs::rename(&temporary, &self.path));
        written.inspect_err(|_| drop(fs::remove_file(&temporary)))
    }
}

/// A file with these contents.
fn file_of(data: &[u8]) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(crc32c(data).to_le_bytes());
    file.extend(data);
    file
}

/// The contents of a file, if it is intact.
fn contents(file: &[u8]) -> Option<&[u8]> {
    let (header, data) = file.split_at_checked(HEADER_BYTES)?;
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    (header.starts_with(MAGIC) && word(8) == VERSION && word(12) == crc32c(data)).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_and_foreign_files_are_ignored() {
        let file = file_of(b"compiled kernels");
        assert_eq!(contents(&file), Some(&b"compiled kernels"[..]));
        assert_eq!(contents(&file_of(b"")), Some(&b""[..]));
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!((contents(&damaged), contents(&file[..at])), (None, None), "byte {at}");
        }
    }
}
