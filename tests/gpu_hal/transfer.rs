//! The transfer queue. Devices without one copy on the compute queue, which tests everything but the overlap.

use super::*;
use topostream::device::gpu::transfer::LANES;
use topostream::device::gpu::{Copy, TransferQueue, TransferTicket};

/// The device's transfer queue, if it has one.
#[allow(unsafe_code)]
fn queue(gpu: &Gpu) -> TransferQueue {
    match gpu.caps().transfer_family {
        Some(_) => TransferQueue::new(gpu).unwrap(),
        // SAFETY: each of these tests has its own device, and one thread.
        None => unsafe { TransferQueue::on_compute_queue(gpu) }.unwrap(),
    }
}

fn page_copy<'a>(source: &'a SharedBuffer, from: u64, dest: &'a SharedBuffer, to: u64) -> Copy<'a> {
    Copy { source, source_offset: from << 16, dest, dest_offset: to << 16, bytes: 64 << 10 }
}

#[test]
fn pages_are_copied_and_timed() {
    let gpu = gpu_or_return!();
    let frames = frames(64);
    let import = HostImport::new(&gpu, pool(&frames), 16 * (64 << 10)).unwrap();
    let arena = device_buffer(&gpu, "arena", 64 * (64 << 10)).unwrap();
    let mut queue = queue(&gpu);
    // More submissions than lanes, of two pages each, not in page order.
    let mut tickets = Vec::new();
    for round in 0..3 * LANES as u64 {
        let pages = [(round * 2) % 64, (round * 2 + 1) % 64];
        let copies = pages.map(|page| {
            let (chunk, offset) = import.locate(page << 16);
            page_copy(&import.chunks()[chunk], offset >> 16, &arena, 63 - page)
        });
        tickets.push(queue.submit(&copies).unwrap());
        assert!(queue.under_way() <= LANES);
    }
    assert!(tickets.is_sorted());
    let last: TransferTicket = *tickets.last().unwrap();
    assert!(queue.wait(last, MINUTE).unwrap());
    for ticket in &tickets {
        assert!(queue.poll(*ticket).unwrap());
    }
    assert_eq!(queue.under_way(), 0);
    for (page, frame) in frames.iter().enumerate() {
        assert_eq!(read(&gpu, &arena, (63 - page as u64) << 16, 64 << 10), frame.page(), "page {page}");
    }
    let times = queue.finished();
    if !times.is_empty() {
        assert_eq!(times.iter().map(|time| time.ticket).collect::<Vec<_>>(), tickets);
        assert!(times.iter().all(|time| time.begin_ns <= time.end_ns), "{times:?}");
        assert!(times.is_sorted_by_key(|time| time.end_ns), "{times:?}");
    }
    assert!(queue.finished().is_empty());
}

#[test]
fn kernels_see_copies_after_the_ticket_is_done() {
    let gpu = gpu_or_return!();
    let mut frames = frames(4);
    let import = HostImport::new(&gpu, pool(&frames), 4 * (64 << 10)).unwrap();
    let arena = device_buffer(&gpu, "arena", 64 << 10).unwrap();
    let mut queue = queue(&gpu);
    for round in 0..20u32 {
        let at = round as usize % 4;
        fill(&mut frames[at], 500 + round);
        let ticket = queue.submit(&[page_copy(&import.chunks()[0], at as u64, &arena, 0)]).unwrap();
        assert!(queue.wait(ticket, MINUTE).unwrap());
        assert_eq!(sum_on(&gpu, &arena), sum(frames[at].page()), "round {round}");
    }
}

/// The host reads the memory directly, without a queue: when the ticket is done, all bytes must be there.
#[test]
#[allow(unsafe_code)]
fn a_finished_ticket_means_that_the_host_sees_the_bytes() {
    const BYTES: u64 = 64 * MIB;
    let gpu = gpu_or_return!();
    let mut source = AlignedBuffer::new(BYTES as usize);
    source.fill(0xa5);
    let dest = Arc::new(AlignedBuffer::new(BYTES as usize));
    let shared: Arc<dyn HostMemory> = Arc::clone(&dest) as _;
    let from = HostImport::new(&gpu, Arc::new(source), BYTES).unwrap();
    // SAFETY: the memory is only read after the last ticket is done.
    let to = unsafe { HostImport::writable(&gpu, shared, BYTES) }.unwrap();
    let mut queue = queue(&gpu);
    let mut last = None;
    for offset in (0..BYTES).step_by(8 << 20) {
        let (source, dest) = (&from.chunks()[0], &to.chunks()[0]);
        let copy = Copy { source, source_offset: offset, dest, dest_offset: offset, bytes: 8 * MIB };
        last = Some(queue.submit(&[copy]).unwrap());
    }
    assert!(queue.wait(last.unwrap(), MINUTE).unwrap());
    assert!(dest.iter().rev().all(|byte| *byte == 0xa5));
}

#[test]
fn copies_out_of_bounds_are_refused() {
    let (gpu, other) = (gpu_or_return!(), gpu_or_return!());
    let mut queue = queue(&gpu);
    let arena = device_buffer(&gpu, "arena", 4 << 16).unwrap();
    let dest = device_buffer(&gpu, "dest", 2 << 16).unwrap();
    let foreign = device_buffer(&other, "foreign", 4 << 16).unwrap();
    let off = GpuOptions { host_import: false, transfer_queue: false, ..Default::default() };
    let portable = gpu_or_return!(off);
    let plain = device_buffer(&portable, "plain", 4 << 16).unwrap();
    let whole = page_copy(&arena, 0, &dest, 0);
    for copy in [
        page_copy(&arena, 4, &dest, 0),
        page_copy(&arena, 0, &dest, 2),
        page_copy(&arena, u64::MAX >> 17, &dest, 0),
        Copy { source_offset: u64::MAX, ..whole },
        Copy { bytes: 0, ..whole },
        Copy { bytes: u64::MAX, ..whole },
        page_copy(&foreign, 0, &dest, 0),
        page_copy(&plain, 0, &dest, 0),
    ] {
        assert!(matches!(gpu_error(queue.submit(&[copy])), GpuError::Fault { .. }), "{copy:?}");
    }
    assert_eq!(queue.under_way(), 0);
    let ticket = queue.submit(&[whole, page_copy(&arena, 3, &dest, 1)]).unwrap();
    assert!(queue.wait(ticket, MINUTE).unwrap());
    let ticket = queue.submit(&[]).unwrap();
    assert!(queue.wait(ticket, MINUTE).unwrap(), "nothing to copy is soon done");
}

#[test]
fn there_is_one_transfer_queue_at_a_time() {
    let gpu = gpu_or_return!();
    let unavailable = |gpu: &Gpu| matches!(gpu_error(TransferQueue::new(gpu)), GpuError::Unavailable { .. });
    if gpu.caps().transfer_family.is_some() {
        let first = TransferQueue::new(&gpu).unwrap();
        assert!(unavailable(&gpu));
        drop(first);
        TransferQueue::new(&gpu).unwrap();
    } else {
        assert!(unavailable(&gpu));
    }
    assert!(unavailable(&gpu_or_return!(GpuOptions { transfer_queue: false, ..Default::default() })));
}

#[test]
fn queues_can_be_dropped_with_copies_in_flight() {
    for order in 0..5 {
        let gpu = gpu_or_return!();
        let frames = frames(64);
        let import = HostImport::new(&gpu, pool(&frames), 64 * (64 << 10)).unwrap();
        let arena = device_buffer(&gpu, "arena", 64 * (64 << 10)).unwrap();
        let mut queue = queue(&gpu);
        for page in 0..20 {
            queue.submit(&[page_copy(&import.chunks()[0], page, &arena, 63 - page)]).unwrap();
        }
        match order {
            0 => drop((queue, import, arena, gpu, frames)),
            1 => drop((frames, import, arena, gpu, queue)),
            2 => drop((import, gpu, queue, frames, arena)),
            3 => {
                gpu.lose();
                drop((frames, import, arena, queue, gpu));
            }
            _ => {
                gpu.lose();
                assert!(matches!(gpu_error(queue.submit(&[])), GpuError::Lost { .. }));
                drop((frames, import, arena, gpu, queue));
            }
        }
    }
}
