//! Between opening a device and its first launch: it is kept awake, and loads compiled kernels from disk.

use super::*;
use topostream::device::gpu::Awake;

#[test]
fn a_device_is_kept_awake_until_it_is_stopped() {
    let gpu = Arc::new(gpu_or_return!());
    let awake = Awake::begin(&gpu).unwrap();
    let begun = Instant::now();
    while awake.rounds() < 3 {
        assert!(begun.elapsed() < MINUTE, "only {} rounds in a minute", awake.rounds());
        gpu.check().unwrap();
        std::thread::yield_now();
    }
    awake.end();
    // The device is used concurrently.
    let frames = frames(1);
    let import = HostImport::new(&gpu, pool(&frames), 64 << 10).unwrap();
    assert_eq!(sum_on(&gpu, &import.chunks()[0]), sum(frames[0].page()));
    drop(awake);
    gpu.check().unwrap();
}

#[test]
fn a_lost_device_ends_the_thread_that_keeps_it_awake() {
    let gpu = Arc::new(gpu_or_return!());
    let awake = Awake::begin(&gpu).unwrap();
    gpu.lose();
    drop(awake);
    assert!(gpu.check().is_err());
}

/// The device opens with any contents of the folder, and the file is valid afterwards.
#[test]
fn compiled_kernels_are_cached_and_damaged_files_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let pipelines = folder.path().join("made/when/needed");
    let options = GpuOptions { pipelines: Some(pipelines.clone()), ..GpuOptions::default() };
    let only_file = || -> Option<std::path::PathBuf> {
        let mut files = std::fs::read_dir(&pipelines).ok()?.map(|file| file.unwrap().path());
        let file = files.next()?;
        assert!(files.next().is_none(), "no temporary file is left");
        Some(file)
    };
    let open = || -> Option<Vec<u8>> {
        let gpu = gpu_or_none(&options)?;
        let Some(cache) = gpu.pipelines() else {
            eprintln!("skipped: the driver has no pipeline caches");
            return None;
        };
        cache.save().unwrap();
        Some(std::fs::read(only_file().unwrap()).unwrap())
    };
    let Some(whole) = open() else { return };
    let file = only_file().unwrap();
    for damage in [&b""[..], b"foreign", &whole[..whole.len() / 2]] {
        std::fs::write(&file, damage).unwrap();
        assert!(open().unwrap().len() >= 16, "written anew");
    }
    // A folder that cannot be created is not an error.
    let options = GpuOptions { pipelines: Some(file.join("below a file")), ..GpuOptions::default() };
    let gpu = gpu_or_none(&options).unwrap();
    assert!(gpu.pipelines().unwrap().save().is_err());
    gpu.check().unwrap();
}

fn gpu_or_none(options: &GpuOptions) -> Option<Gpu> {
    Some(Gpu::open(&adapter()?, options).unwrap())
}
