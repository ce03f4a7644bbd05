// Local moving: a vertex goes to the community of a neighbour where it gains most (moving.rs).

// The number of vertices of each community.
var<storage, read> sizes: array<u32>;
// The community that each vertex has decided for.
var<storage, read_write> next: array<u32>;
// A bit for each vertex that a neighbour's move may concern.
var<storage, read_write> bits: array<atomic<u32>>;

fn decider_begin(vertex: u32) -> Decider {
    let own = labels[vertex];
    var decider = decider_of(vertex, own);
    decider.own_tie = scattered(own, turn.seed);
    decider.is_alone = sizes[own] == 1u;
    return decider;
}

fn choice_begin(decider: Decider) -> Choice {
    let least = vec4<u32>(0u, 0u, 0u, 0x80000000u);
    return Choice(least, U64(0xffffffffu, 0xffffffffu), NO_GROUP, U64(0u, 0u));
}

// The community that a neighbour stands for.
fn group_of(decider: Decider, neighbour: u32) -> u32 {
    return labels[neighbour];
}

// Considers a community, with the weight of all edges to it.
fn considered(decider: Decider, best: Choice, community: u32, weight: U64) -> Choice {
    if community == decider.own {
        var choice = best;
        choice.weight = weight;
        return choice;
    }
    let score = pull_of(decider, weight, total_of(community));
    if i128_above(best.score, score) {
        return best;
    }
    let choice = Choice(score, scattered(community, turn.seed), community, best.weight);
    // Two vertices alone would change places.
    let may_swap = decider.is_alone && u64_less(decider.own_tie, choice.tie);
    if !is_better(choice, best) || (may_swap && sizes[community] == 1u) {
        return best;
    }
    return choice;
}

// Where the vertex goes: of equal scores, staying wins.
fn decided(decider: Decider, best: Choice) -> u32 {
    let stays = pull_of(decider, best.weight, without(total_of(decider.own), decider.mass));
    let moves = best.group != NO_GROUP && i128_above(best.score, stays);
    let score = select(stays, best.score, moves);
    // Its own number is the name of a community of its own, where nobody else has taken it.
    if (score.w >> 31u) != 0u && !decider.is_alone && sizes[decider.vertex] == 0u {
        return decider.vertex;
    }
    return select(decider.own, best.group, moves);
}

// Activates a neighbour that is not where the vertex goes.
fn activate(neighbour: u32, community: u32) {
    if labels[neighbour] != community {
        let bit = 1u << (neighbour % 32u);
        if (atomicLoad(&bits[neighbour / 32u]) & bit) == 0u {
            atomicOr(&bits[neighbour / 32u], bit);
        }
    }
}
