//! Plain images of packed pages, compared with the edges that the pages were made of.

use super::gpu::Gpu;
use super::graph::{Graph, PAGE_BYTES, edges};
use super::{Rig, gpu, tally};
use crate::common::{TestStore, small_pages};
use topostream::Direction;
use topostream::device::gpu::compose::layout::{Counters, InflatePage, WORKGROUP};
use topostream::device::gpu::compose::{KernelName, ModuleOptions, Resource, compose};
use topostream_formats::packed::{PackedParameters, PageEncoder, UNIT};
use topostream_formats::page::PageHeader;
use topostream_formats::store::PageReader;
use topostream_formats::{Encoding, PageId, Topology};
use topostream_tools::generate::Rmat;

/// Neighbours of a page at most; images have room for slots beside them.
const EDGES_MAX: u32 = 4096;
const IMAGE_WORDS: usize = EDGES_MAX as usize + 1024;

/// The packed pages of a topology, one after the other, and how kernels find them. Images are in reverse order.
fn packed_pages(topology: &Topology, image_words: usize) -> (Vec<u32>, Vec<InflatePage>) {
    let reader = PageReader::open(topology).unwrap();
    let (mut frames, mut table) = (Vec::new(), Vec::new());
    for number in 0..topology.page_count() {
        let mut page = vec![0u32; topology.page_bytes() as usize / 4];
        reader.read(PageId(number), bytemuck::cast_slice_mut(&mut page), &mut []).unwrap();
        let header: PageHeader = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&page[..8]));
        let shard = topology.shards().iter().find(|shard| shard.pages.contains(&number)).unwrap();
        table.push(InflatePage {
            packed: frames.len() as u32,
            image: (topology.page_count() - 1 - number) * image_words as u32,
            number,
            start_vertex: header.start_vertex,
            slot_count: header.slot_count,
            edge_count: header.edge_count,
            continues: u32::from(header.list_offset > 0),
            origin: shard.destinations.start as u32,
            value_max: (shard.destinations.end - shard.destinations.start - 1) as u32,
        });
        frames.extend(page);
    }
    (frames, table)
}

/// The workgroups that the largest page needs of each kernel.
fn groups(table: &[InflatePage]) -> [u32; 2] {
    let most = |count: fn(&InflatePage) -> u32| table.iter().map(count).max().unwrap();
    [most(|page| page.slot_count.div_ceil(WORKGROUP)), most(|page| page.edge_count.div_ceil(UNIT as u32))]
}

/// The images that the kernels make, and the number of the page that they report plus 1.
fn inflate(rig: &mut Rig<'_>, frames: &[u32], table: &[InflatePage]) -> (Vec<u32>, u32) {
    rig.put(Resource::Frames, frames);
    rig.put(Resource::Inflation, bytemuck::cast_slice(table));
    rig.put(Resource::Inflated, &vec![0xdead_beef; table.len() * IMAGE_WORDS]);
    // One workgroup more than needed.
    let [slots, units] = groups(table).map(|groups| [groups + 1, table.len() as u32]);
    rig.run(KernelName::InflateSlots, slots);
    rig.run(KernelName::Inflate, units);
    let counters = rig.gpu.read(&rig.buffers[&Resource::Counters]);
    let defect = bytemuck::cast_slice::<u32, Counters>(&counters)[0].defect;
    (rig.gpu.read(&rig.buffers[&Resource::Inflated]), defect)
}

/// The edges of plain images, whose headers kernels do not read.
fn edges_of(images: &[u32], table: &[InflatePage]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for page in table {
        let image = &images[page.image as usize..][..IMAGE_WORDS];
        let begin = |slot: u32| image[IMAGE_WORDS - 1 - slot as usize];
        assert_eq!((begin(0), begin(page.slot_count)), (0, page.edge_count), "page {}", page.number);
        for slot in 0..page.slot_count {
            let list = &image[8 + begin(slot) as usize..8 + begin(slot + 1) as usize];
            found.extend(list.iter().map(|&neighbour| (page.start_vertex + slot, neighbour)));
        }
        let between = &image[8 + page.edge_count as usize..IMAGE_WORDS - 1 - page.slot_count as usize];
        assert!(between.iter().all(|&word| word == 0xdead_beef), "page {} has more than its image", page.number);
    }
    found.sort_unstable();
    found
}

/// Lists of every kind, in pages of every kind, with each parameter of the encoding.
#[test]
fn images_have_the_edges_of_the_graph() {
    let Some(gpu) = gpu() else { return };
    for (step, own, shards) in [(false, false, 1), (true, false, 3), (false, true, 3), (true, true, 1)] {
        let graph = Graph::grouped(shards, Encoding::Packed { edges_max: EDGES_MAX, step, own }, false);
        for direction in [Direction::Out, Direction::In] {
            let mut rig = Rig::new(gpu, &graph, tally(), 32, false);
            let (frames, table) = packed_pages(graph.topology(direction), IMAGE_WORDS);
            assert!(table.iter().any(|page| page.continues == 1) || direction == Direction::In);
            let (images, defect) = inflate(&mut rig, &frames, &table);
            let of = |(source, dest, _)| if direction == Direction::Out { (source, dest) } else { (dest, source) };
            let mut expected: Vec<(u32, u32)> = edges().into_iter().map(of).collect();
            expected.sort_unstable();
            assert!(edges_of(&images, &table) == expected, "{step} {own} {shards} {direction:?}");
            assert_eq!(defect, 0);
        }
    }
}

/// A list whose gaps have `width` bits, but for some with 32; sums wrap.
fn list_of(width: u32, count: usize, wide: impl Fn(usize) -> bool) -> Vec<u32> {
    let gap = |i: usize| if wide(i) { u32::MAX - i as u32 } else { ((1u64 << width) - 1) as u32 };
    let sum = |sum: &mut u32, gap: u32| {
        *sum = sum.wrapping_add(gap);
        Some(*sum)
    };
    (0..count).map(gap).scan(0, sum).collect()
}

/// Encodes the lists of consecutive vertices as a page behind others; the first one may continue a list.
fn append_page(lists: &[Vec<u32>], before: Option<u32>, encoding: Encoding, pages: &mut (Vec<u32>, Vec<InflatePage>)) {
    let (frames, table) = pages;
    let (number, start_vertex) = (table.len() as u32, 5 + 1000 * table.len() as u32);
    let mut encoder = PageEncoder::new(PAGE_BYTES, PackedParameters::of(encoding).unwrap());
    encoder.clear(0);
    for (slot, list) in (0..).zip(lists) {
        assert!(encoder.open_list(start_vertex + slot, before.filter(|_| slot == 0)));
        list.iter().for_each(|&neighbour| assert!(encoder.push(neighbour)));
    }
    let (slot_count, edge_count, continues) = (lists.len() as u32, encoder.edge_count(), u32::from(before.is_some()));
    let list_offset = u64::from(1024 * continues);
    let header =
        PageHeader { page: number, start_vertex, slot_count, edge_count, large: continues, list_offset, tag: 0 };
    let mut page = vec![0u32; PAGE_BYTES as usize / 4];
    encoder.write(&header, bytemuck::cast_slice_mut(&mut page));
    let (packed, image) = (frames.len() as u32, number * IMAGE_WORDS as u32);
    let (origin, value_max) = (0, u32::MAX);
    frames.extend(page);
    table.push(InflatePage {
        packed,
        image,
        number,
        start_vertex,
        slot_count,
        edge_count,
        continues,
        origin,
        value_max,
    });
}

/// Gaps of every width, with exceptions at all kinds of places, and empty lists around blocks and units.
#[test]
fn every_width_is_decoded() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::VertexId, false);
    for (step, own) in [(false, false), (true, true)] {
        let encoding = Encoding::Packed { edges_max: EDGES_MAX, step, own };
        let (mut pages, mut expected) = ((Vec::new(), Vec::new()), Vec::new());
        for width in 0..=32 {
            let mut lists = vec![list_of(width, 1024, |_| false), Vec::new(), list_of(width, 140, |at| at == 7)];
            lists.extend((0..300).map(|number| list_of(width, number % 41 / 38, |_| false)));
            lists.push(list_of(width, 900, |at| at % 7 == width as usize % 7));
            lists.extend((0..5).map(|number| list_of(width, number, |at| at == 1)));
            lists.push(Vec::new());
            let before = (width % 3 == 1).then_some(77 << (width % 20));
            lists.truncate(if before.is_some() { 1 } else { lists.len() });
            append_page(&lists, before, encoding, &mut pages);
            let first = pages.1.last().unwrap().start_vertex;
            expected
                .extend((first..).zip(lists).flat_map(|(vertex, list)| list.into_iter().map(move |to| (vertex, to))));
        }
        let mut rig = Rig::new(gpu, &graph, tally(), 32, false);
        rig.options.encoding = encoding;
        let (images, defect) = inflate(&mut rig, &pages.0, &pages.1);
        expected.sort_unstable();
        assert!(edges_of(&images, &pages.1) == expected, "step {step}, own {own}");
        assert_eq!(defect, 0);
    }
}

/// Kernels stay within pages and images, whatever the bytes are, and report a page.
#[test]
fn noise_is_reported_and_does_no_harm() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::Packed { edges_max: EDGES_MAX, step: true, own: true }, false);
    let (sound, table) = packed_pages(graph.topology(Direction::Out), IMAGE_WORDS);
    let noisy = &table[table.len() / 2];
    for first in [8, 12, 200] {
        let mut frames = sound.clone();
        let page = &mut frames[noisy.packed as usize..][..PAGE_BYTES as usize / 4];
        let mut chance = super::Chance(first as u64);
        page[first..].fill_with(|| chance.next() as u32);
        let mut rig = Rig::new(gpu, &graph, tally(), 32, false);
        let (images, defect) = inflate(&mut rig, &frames, &table);
        assert_eq!(defect, noisy.number + 1, "from word {first} on");
        let begin = noisy.image as usize + 8;
        let neighbours = &images[begin..begin + noisy.edge_count as usize];
        assert!(neighbours.iter().all(|&neighbour| neighbour <= noisy.value_max));
        let others: Vec<_> = table.iter().copied().filter(|page| page.number != noisy.number).collect();
        edges_of(&images, &others);
    }
}

/// `SCALE=22 cargo test --release --test gpu speed_of_inflation -- --ignored --nocapture`, from device memory.
#[test]
#[ignore = "needs an idle hardware GPU"]
fn speed_of_inflation() {
    let Some(gpu) = Gpu::open() else { return };
    let scale = std::env::var("SCALE").map_or(20, |scale| scale.parse().expect("SCALE is a number"));
    let page_bytes = 1 << 20;
    let encoding = Encoding::packed(page_bytes, 4).unwrap();
    let mut options = small_pages(encoding);
    (options.layout.page_bytes, options.in_edges, options.memory_bytes) = (page_bytes, false, 8 << 30);
    let folder = TestStore::from_source(|| Box::new(Rmat::new(scale, 16, 1).generate().unwrap()), &options);
    let store = folder.open();
    let image_bytes = encoding.plain_bytes(page_bytes);
    let (frames, mut table) = packed_pages(store.topology(Direction::Out).unwrap(), image_bytes as usize / 4);
    // As many as have room.
    table.truncate(((2 << 30) / image_bytes) as usize);
    table.iter_mut().zip(0..).for_each(|(page, at)| page.image = at * (image_bytes / 4) as u32);
    let buffers = [
        (Resource::Frames, gpu.buffer(&frames)),
        (Resource::Inflation, gpu.buffer(bytemuck::cast_slice(&table))),
        (Resource::Inflated, gpu.buffer(&vec![0; table.len() * image_bytes as usize / 4])),
        (Resource::Counters, gpu.buffer(&[0; size_of::<Counters>() / 4])),
    ];
    let buffers = buffers.into_iter().collect();
    let options = ModuleOptions { encoding, page_bytes, ..ModuleOptions::default() };
    let edges = table.iter().map(|page| u64::from(page.edge_count)).sum::<u64>() as f64;
    for (name, groups) in [KernelName::InflateSlots, KernelName::Inflate].into_iter().zip(groups(&table)) {
        let module = compose(&tally(), name, &options);
        let seconds = gpu.time(&[(&module, [groups, table.len() as u32])], &buffers, Resource::Counters);
        println!(
            "{}, {name}, {} pages: {:.2} ms, {:.1} G edges/s, {:.1} GB/s packed",
            gpu.name,
            table.len(),
            seconds * 1e3,
            edges / seconds / 1e9,
            table.len() as f64 * f64::from(page_bytes) / seconds / 1e9,
        );
    }
}
