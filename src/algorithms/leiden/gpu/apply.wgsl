// Moves the vertices of a batch to where they have decided to go, and sums their masses.

var<storage, read_write> labels: array<u32>;
var<storage, read> next: array<u32>;
var<storage, read_write> counters: array<atomic<u32>>;

var<workgroup> moved: atomic<u32>;
var<workgroup> high_moved: atomic<u32>;

@compute @workgroup_size(THREADS)
fn main(
    @builtin(workgroup_id) workgroup_id: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if lane == 0u {
        atomicStore(&moved, 0u);
        atomicStore(&high_moved, 0u);
    }
    workgroupBarrier();
    let vertex = vertex_of(workgroup_id, workgroups, lane);
    if vertex < turn.end {
        let own = labels[vertex];
        let goes_to = next[vertex];
        if own != goes_to {
            let mass = mass_of(vertex);
            group_add(own, Mass(u64_negative(mass.out), u64_negative(mass.into)), 0xffffffffu);
            group_add(goes_to, mass, 1u);
            labels[vertex] = goes_to;
            let both = u64_add(mass.out, mass.into);
            let before = atomicAdd(&moved, both.x);
            if WIDE {
                atomicAdd(&high_moved, both.y + u32(before + both.x < before));
            }
        }
        after(vertex);
    }
    workgroupBarrier();
    if lane == 0u {
        let low = atomicLoad(&moved);
        let before = atomicAdd(&counters[MOVED], low);
        let high = atomicLoad(&high_moved) + u32(before + low < before);
        if high != 0u {
            atomicAdd(&counters[MOVED + 1u], high);
        }
    }
}
