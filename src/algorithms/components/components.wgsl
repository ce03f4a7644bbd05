// Connected components: label[v] is the smallest vertex that v is connected to. Labels propagate along edges, and the
// smaller one wins. With BOTH_ENDS an edge is in one list only, and lowers whichever of its ends has the larger label.

struct Record {
    // The smallest label that the vertex or a neighbour had.
    least: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if BOTH_ENDS {
        let theirs = label_load(neighbour);
        if theirs > (*record).least {
            lower(neighbour, (*record).least);
        } else {
            (*record).least = theirs;
        }
    } else {
        lower(neighbour, (*record).least);
    }
    return true;
}

fn list_close(record: Record, list: List) {
    if BOTH_ENDS {
        lower(list.vertex, record.least);
    }
}

fn lower(vertex: u32, label: u32) {
    if label_min(vertex, label) {
        activate(vertex);
    }
}
