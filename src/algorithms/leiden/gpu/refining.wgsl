// Refinement: a vertex that is alone joins the group of a neighbour of its community where it gains most (refining.rs).

// MASS_WORDS words a community, and the community of each vertex.
var<storage, read> around: array<u32>;
var<storage, read> communities: array<u32>;
// The group that each vertex has decided for.
var<storage, read_write> next: array<u32>;
// A bit for each vertex that decides in this turn.
var<storage, read> deciding: array<u32>;

fn around_of(community: u32) -> Mass {
    let at = community * MASS_WORDS;
    var mass = Mass(U64(around[at], 0u), U64(0u, 0u));
    if WIDE {
        mass.out.y = around[at + 1u];
    }
    if DIRECTED {
        mass.into.x = around[at + MASS_WORDS / 2u];
        if WIDE {
            mass.into.y = around[at + 3u];
        }
    }
    return mass;
}

fn decider_begin(vertex: u32) -> Decider {
    return decider_of(vertex, communities[vertex]);
}

// Without a better one, the vertex stays alone.
fn choice_begin(decider: Decider) -> Choice {
    return Choice(vec4<u32>(0u), U64(0xffffffffu, 0xffffffffu), decider.vertex, U64(0u, 0u));
}

// The group that a neighbour stands for: none outside of the vertex's community.
fn group_of(decider: Decider, neighbour: u32) -> u32 {
    if communities[neighbour] != decider.own {
        return NO_GROUP;
    }
    return labels[neighbour];
}

// Considers a group, with the weight of all edges to it: one that does not decide itself.
fn considered(decider: Decider, best: Choice, group: u32, weight: U64) -> Choice {
    var choice = best;
    choice.weight = u64_add(best.weight, weight);
    if ((deciding[group / 32u] >> (group % 32u)) & 1u) != 0u {
        return choice;
    }
    let score = pull_of(decider, weight, total_of(group));
    if i128_above(best.score, score) {
        return choice;
    }
    let other = Choice(score, scattered(group, turn.seed), group, choice.weight);
    if is_better(other, best) {
        return other;
    }
    return choice;
}

// The group that the vertex joins, if it is well connected to its community.
fn decided(decider: Decider, best: Choice) -> u32 {
    let pull = pull_of(decider, best.weight, without(around_of(decider.own), decider.mass));
    return select(best.group, decider.vertex, (pull.w >> 31u) != 0u);
}
