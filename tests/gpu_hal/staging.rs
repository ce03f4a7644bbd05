//! Buffers through which values are read: created ahead, lent, and lent again.

use super::*;
use std::sync::mpsc;
use std::thread;
use topostream::device::gpu::Staging;

const BYTES: u64 = 4096;

#[test]
fn buffers_are_lent_again_once_nobody_reads_them() {
    let gpu = Arc::new(gpu_or_return!());
    let mut staging = Staging::new(2, BYTES);
    staging.create_ahead(&gpu, 2);
    for round in 0..3u8 {
        let (first, second) = (staging.buffer(&gpu).unwrap(), staging.buffer(&gpu).unwrap());
        let written = vec![round; BYTES as usize];
        gpu.queue().write_buffer(&first, 0, &written);
        let submission = gpu.queue().submit([]);
        let read = staging.map(&gpu, first, submission, BYTES).unwrap();
        assert_eq!(&read[..], &written[..]);
        thread::scope(|scope| {
            let (started, starts) = mpsc::channel();
            let (staging, gpu) = (&staging, &gpu);
            let third = scope.spawn(move || {
                started.send(()).unwrap();
                staging.buffer(gpu).map(drop)
            });
            starts.recv().unwrap();
            thread::sleep(Duration::from_millis(20));
            assert!(!third.is_finished(), "there are two buffers");
            // One is read no more, or the device was never told to fill it.
            if round == 1 {
                drop(second)
            } else {
                drop(read)
            }
            third.join().unwrap().unwrap();
        });
    }
}

#[test]
fn a_lost_device_has_no_more_buffers_and_no_hang() {
    for count in 1..4 {
        let gpu = Arc::new(gpu_or_return!());
        let mut staging = Staging::new(count, BYTES);
        staging.create_ahead(&gpu, count);
        let lent = if count > 2 { staging.buffer(&gpu).ok() } else { None };
        gpu.lose();
        if let Some(lent) = lent {
            let submission = gpu.queue().submit([]);
            assert!(staging.map(&gpu, lent, submission, BYTES).is_err());
        }
        let held: Vec<_> = (0..=count).map_while(|_| staging.buffer(&gpu).ok()).collect();
        assert!(held.len() <= count as usize, "{} of {count}", held.len());
    }
}
