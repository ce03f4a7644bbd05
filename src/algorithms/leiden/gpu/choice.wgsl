// Where a vertex goes: the best of the groups around it, over all threads that read its list.

// A label that no group has.
const NO_GROUP: u32 = 0xffffffffu;
// Words of a choice.
const CHOICE_WORDS: u32 = 9u;

// The best group so far.
struct Choice {
    // Signed, of 128 bits.
    score: vec4<u32>,
    // Of equal scores the smallest hash wins, then the smallest label.
    tie: U64,
    group: u32,
    // Moving: the weight of the vertex's edges to its own community. Refining: to all groups of its community.
    weight: U64,
}

// A vertex that decides.
struct Decider {
    vertex: u32,
    // Its community.
    own: u32,
    mass: Mass,
    // Its masses times the resolution.
    pull_out: vec4<u32>,
    pull_into: vec4<u32>,
    // Moving: the hash of its community, and whether it is alone there.
    own_tie: U64,
    is_alone: bool,
}

// A choice for each thread, the words of all threads one after another.
var<workgroup> choices: array<u32, CHOICE_WORDS * THREADS>;

fn decider_of(vertex: u32, own: u32) -> Decider {
    let mass = mass_of(vertex);
    var decider: Decider;
    decider.vertex = vertex;
    decider.own = own;
    decider.mass = mass;
    let resolution = vec4<u32>(turn.resolution, 0u, 0u);
    decider.pull_out = u128_times(resolution, mass.out);
    if DIRECTED {
        decider.pull_into = u128_times(resolution, mass.into);
    }
    return decider;
}

// How much edges of this weight draw a vertex to a group of this mass: `Pull::of` in objective.rs.
fn pull_of(decider: Decider, weight: U64, against: Mass) -> vec4<u32> {
    let drawn = u128_times(turn.unit, weight);
    if DIRECTED {
        let out = u128_times(decider.pull_out, against.into);
        return u128_minus(drawn, u128_add(out, u128_times(decider.pull_into, against.out)));
    } else {
        return u128_minus(drawn, u128_times(decider.pull_out, against.out));
    }
}

// The mass of a group without a vertex of it.
fn without(group: Mass, vertex: Mass) -> Mass {
    return Mass(u64_minus(group.out, vertex.out), u64_minus(group.into, vertex.into));
}

fn is_better(a: Choice, b: Choice) -> bool {
    if any(a.score != b.score) {
        return i128_above(a.score, b.score);
    }
    if any(a.tie != b.tie) {
        return u64_less(a.tie, b.tie);
    }
    return a.group < b.group;
}

fn choice_put(lane: u32, choice: Choice) {
    for_word(lane, 0u, choice.score.x);
    for_word(lane, 1u, choice.score.y);
    for_word(lane, 2u, choice.score.z);
    for_word(lane, 3u, choice.score.w);
    for_word(lane, 4u, choice.tie.x);
    for_word(lane, 5u, choice.tie.y);
    for_word(lane, 6u, choice.group);
    for_word(lane, 7u, choice.weight.x);
    for_word(lane, 8u, choice.weight.y);
}

fn for_word(lane: u32, word: u32, value: u32) {
    choices[word * THREADS + lane] = value;
}

fn choice_word(lane: u32, word: u32) -> u32 {
    return choices[word * THREADS + lane];
}

fn choice_get(lane: u32) -> Choice {
    let score = vec4<u32>(choice_word(lane, 0u), choice_word(lane, 1u), choice_word(lane, 2u), choice_word(lane, 3u));
    let tie = U64(choice_word(lane, 4u), choice_word(lane, 5u));
    return Choice(score, tie, choice_word(lane, 6u), U64(choice_word(lane, 7u), choice_word(lane, 8u)));
}

// The best choice of WIDTH threads, a power of two, in the first of them; all threads of the workgroup call it.
fn choice_among(lane: u32, choice: Choice) -> Choice {
    var best = choice;
    choice_put(lane, best);
    workgroupBarrier();
    // rounds: 8.
    for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
        if lane % WIDTH < half {
            let other = choice_get(lane + half);
            let weight = u64_add(best.weight, other.weight);
            if is_better(other, best) {
                best = other;
            }
            best.weight = weight;
            choice_put(lane, best);
        }
        workgroupBarrier();
    }
    return best;
}
