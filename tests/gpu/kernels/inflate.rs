//! Plain images of packed pages, compared with the edges that the pages were made of.

use super::graph::{Graph, PAGE_BYTES, edges};
use super::{Rig, gpu, tally};
use topostream::Direction;
use topostream::device::gpu::compose::layout::{Counters, InflatePage, WORKGROUP};
use topostream::device::gpu::compose::{KernelName, Resource};
use topostream_formats::page::PageHeader;
use topostream_formats::store::PageReader;
use topostream_formats::{Encoding, PageId};

/// Neighbours of a page at most; images have room for slots beside them.
const EDGES_MAX: u32 = 4096;
const IMAGE_WORDS: usize = EDGES_MAX as usize + 1024;

/// The packed pages of a topology, one after the other, and how kernels find them. Images are in reverse order.
fn packed_pages(graph: &Graph, direction: Direction) -> (Vec<u32>, Vec<InflatePage>) {
    let topology = graph.topology(direction);
    let reader = PageReader::open(topology).unwrap();
    let (mut frames, mut table) = (Vec::new(), Vec::new());
    for number in 0..topology.page_count() {
        let mut page = vec![0u32; PAGE_BYTES as usize / 4];
        reader.read(PageId(number), bytemuck::cast_slice_mut(&mut page), &mut []).unwrap();
        let header: PageHeader = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&page[..8]));
        let shard = topology.shards().iter().find(|shard| shard.pages.contains(&number)).unwrap();
        table.push(InflatePage {
            packed: frames.len() as u32,
            image: (topology.page_count() - 1 - number) * IMAGE_WORDS as u32,
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

/// The images that the kernels make, and the number of the page that they report plus 1.
fn inflate(rig: &mut Rig<'_>, frames: &[u32], table: &[InflatePage]) -> (Vec<u32>, u32) {
    rig.put(Resource::Frames, frames);
    rig.put(Resource::Inflation, bytemuck::cast_slice(table));
    rig.put(Resource::Inflated, &vec![0xdead_beef; table.len() * IMAGE_WORDS]);
    let most = |count: fn(&InflatePage) -> u32| table.iter().map(count).max().unwrap();
    // One workgroup more than needed.
    let slots = most(|page| page.slot_count.div_ceil(WORKGROUP)) + 1;
    rig.run(KernelName::InflateSlots, [slots, table.len() as u32]);
    rig.run(KernelName::Inflate, [EDGES_MAX / 1024 + 1, table.len() as u32]);
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
            let (frames, table) = packed_pages(&graph, direction);
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

/// Kernels stay within pages and images, whatever the bytes are, and report a page.
#[test]
fn noise_is_reported_and_does_no_harm() {
    let Some(gpu) = gpu() else { return };
    let graph = Graph::new(Encoding::Packed { edges_max: EDGES_MAX, step: true, own: true }, false);
    let (sound, table) = packed_pages(&graph, Direction::Out);
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
