// The least label that reaches each vertex along edges. A neighbour is active as often as it gets a lesser one.

struct Record {
    label: u32,
}

fn list_open(list: List) -> Record {
    return Record(label_load(list.vertex));
}

fn list_edge(record: ptr<function, Record>, list: List, neighbour: u32, weight: u32) -> bool {
    if label_min(neighbour, (*record).label) {
        if GREET {
            seen_insert(neighbour);
        }
        activate(neighbour);
    }
    return true;
}

fn list_close(record: Record, list: List) {}
