// What the kernels of a level share: the turn, the lists, and the masses of vertices.

// A batch of vertices that decide at once, and how.
struct Turn {
    // What a unit of weight counts, and the resolution, as in objective.rs.
    unit: vec4<u32>,
    resolution: U64,
    // Decides between what is equal.
    seed: U64,
    // Vertices whose hash with this is odd wait, unless all of them go.
    chance: U64,
    all_go: u32,
    first: u32,
    end: u32,
    // The index of the turn's counters.
    counters: u32,
    // The capacity of a bin of the queue.
    room: u32,
    // The number of vertices of the level.
    vertices: u32,
}

// Out, or of undirected graphs all; and in, otherwise 0.
struct Mass {
    out: U64,
    into: U64,
}

var<uniform> turn: Turn;
// Where each vertex's list begins and ends.
var<storage, read> lists: array<vec2<u32>>;
// MASS_WORDS words a vertex: of each mass the low word, then the high one if masses are wide.
var<storage, read> masses: array<u32>;

// The length of a vertex's list.
fn length_of(vertex: u32) -> u32 {
    let list = lists[vertex];
    return list.y - list.x;
}

fn mass_of(vertex: u32) -> Mass {
    let at = vertex * MASS_WORDS;
    var mass = Mass(U64(masses[at], 0u), U64(0u, 0u));
    if WIDE {
        mass.out.y = masses[at + 1u];
    }
    if DIRECTED {
        mass.into.x = masses[at + MASS_WORDS / 2u];
        if WIDE {
            mass.into.y = masses[at + 3u];
        }
    }
    return mass;
}

// The vertex of a thread of a kernel over the vertices of a batch.
fn vertex_of(workgroup_id: vec3<u32>, workgroups: vec3<u32>, lane: u32) -> u32 {
    return turn.first + (workgroup_id.y * workgroups.x + workgroup_id.x) * THREADS + lane;
}
