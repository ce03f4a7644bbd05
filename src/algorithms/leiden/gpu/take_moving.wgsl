// Moving: any vertex decides.

fn may_go(vertex: u32) -> bool {
    return true;
}

fn taken(vertex: u32) {}
