"""The algorithms of the catalogue as methods. Written by ``python -m topostream._generate``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from ._options import Vertex
from ._progress import Watcher

if TYPE_CHECKING:
    from .result import Result


class Algorithms:
    """Every algorithm of the catalogue. Vertices are named by their original ids, or by ``"max-degree"``."""

    def _run(self, algorithm: str, given: dict[str, Any]) -> Result:
        """Runs an algorithm with the local variables of its method."""
        raise NotImplementedError

    def pagerank(
        self,
        *,
        damping: float = 0.85,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        dangling: Literal["redistribute", "ignore"] = "redistribute",
        traffic: Literal["auto", "push", "pull"] = "auto",
        sums: Literal["exact", "single"] = "exact",
        weights: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """PageRank: the importance of vertices by the vertices that link to them.

        Every edge counts the same unless ``weights`` is given: then a walk chooses among a vertex's edges by weight, as
        NetworkX's pagerank does, and sums are in single precision. A negative weight is then an error.

        Source: Page et al., 1999. Exactness: same bits; ``weights`` sums of ``f32``.

        Args:
            damping: the probability of following an edge, from 0 to 1.
            iterations: run exactly this many iterations.
            tolerance: stop when an iteration changes the ranks by less than this in L1 norm; at least 1e-7.
            max_iterations: maximum number of iterations.
            dangling: what happens to the rank of vertices without out-edges: ``"redistribute"``: spread over all
                vertices (NetworkX, LDBC Graphalytics), or over the seeds; ``"ignore"``: lost (GTS, GAP).
            traffic: which lists to read: ``"auto"``: pull where the store has in-lists, else push; ``"push"``: along
                out-lists; ``"pull"``: over in-lists.
            sums: how the contributions to a rank are summed: ``"exact"``: in fixed point: the same bits on every run;
                ``"single"``: in single precision: half the memory, faster on GPUs, less accurate.
            weights: follow edges in proportion to the store's weights; otherwise every edge counts the same.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``rank`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("pagerank", locals())

    def personalized_pagerank(
        self,
        source: Vertex | Sequence[Vertex],
        *,
        damping: float = 0.85,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        dangling: Literal["redistribute", "ignore"] = "redistribute",
        traffic: Literal["auto", "push", "pull"] = "auto",
        sums: Literal["exact", "single"] = "exact",
        progress: bool | Watcher = False,
    ) -> Result:
        """Personalized PageRank: the importance of vertices relative to source vertices (random walk with restart).

        Walks follow an edge with the probability ``damping``, and otherwise restart at a source.

        Source: Page et al., 1999; Tong, Faloutsos and Pan, ICDM 2006. Exactness: same bits on every run.

        Args:
            source: where walks start: an original id, or ``max-degree`` for the vertex with the most out-edges; one or
                several.
            damping: the probability of following an edge, from 0 to 1.
            iterations: run exactly this many iterations.
            tolerance: stop when an iteration changes the ranks by less than this in L1 norm; at least 1e-7.
            max_iterations: maximum number of iterations.
            dangling: what happens to the rank of vertices without out-edges: ``"redistribute"``: spread over all
                vertices (NetworkX, LDBC Graphalytics), or over the seeds; ``"ignore"``: lost (GTS, GAP).
            traffic: which lists to read: ``"auto"``: pull where the store has in-lists, else push; ``"push"``: along
                out-lists; ``"pull"``: over in-lists.
            sums: how the contributions to a rank are summed: ``"exact"``: in fixed point: the same bits on every run;
                ``"single"``: in single precision: half the memory, faster on GPUs, less accurate.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``rank`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("personalized-pagerank", locals())

    def delta_pagerank(
        self,
        *,
        damping: float = 0.85,
        tolerance: float = 0.0001,
        dangling: Literal["redistribute", "ignore"] = "redistribute",
        progress: bool | Watcher = False,
    ) -> Result:
        """PageRank by residuals: later iterations read only vertices whose residual is large enough.

        Source: Shun and Blelloch, PPoPP 2013; Zhang et al., TPDS 2014. Exactness: within its tolerance.

        Args:
            damping: the probability of following an edge, from 0 to 1.
            tolerance: maximum relative error of a rank; at least 1e-6.
            dangling: what happens to the rank of vertices without out-edges: ``"redistribute"``: spread over all
                vertices (NetworkX, LDBC Graphalytics), or over the seeds; ``"ignore"``: lost (GTS, GAP).
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``rank`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("delta-pagerank", locals())

    def heat(
        self,
        source: Mapping[Vertex, float] | str | Sequence[str],
        *,
        alpha: float = 0.5,
        iterations: int | None = None,
        tolerance: float = 1e-05,
        max_iterations: int = 100,
        ignore_weights: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Heat simulation: vertex temperatures, with some vertices held at given temperatures.

        In each iteration a vertex moves by a step (``alpha``) from its temperature towards the weighted mean of its
        in-neighbours. Temperatures start at 0. Any step above 0 and up to 1 is stable.

        Source: Khorasani et al., HPDC 2014. Exactness: sums of ``f32``.

        Args:
            source: a vertex that is held at a temperature (1 if none is given), by its original id; one or several; or
                a dictionary of vertices and values.
            alpha: the step of an iteration, above 0 and up to 1.
            iterations: run exactly this many iterations.
            tolerance: stop when the mean change of a vertex in an iteration is at most this share of the largest value;
                at least 1e-6.
            max_iterations: maximum number of iterations.
            ignore_weights: give every edge a weight of 1, even if the store has weights.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``temperature`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("heat", locals())

    def circuit(
        self,
        source: Mapping[Vertex, float] | str | Sequence[str],
        *,
        iterations: int | None = None,
        tolerance: float = 1e-05,
        max_iterations: int = 100,
        ignore_weights: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Circuit simulation: vertex voltages, with some vertices held at given voltages.

        Weights are conductances. In each iteration a vertex takes the mean of its neighbours' voltages (Jacobi's
        method), which needs many iterations if sources are few and far apart. In a directed graph the neighbours are
        the in-neighbours.

        Source: Jacobi's method. Exactness: sums of ``f32``.

        Args:
            source: a vertex that is held at a voltage, by its original id; one or several; or a dictionary of vertices
                and values.
            iterations: run exactly this many iterations.
            tolerance: stop when the mean change of a vertex in an iteration is at most this share of the largest value;
                at least 1e-6.
            max_iterations: maximum number of iterations.
            ignore_weights: give every edge a weight of 1, even if the store has weights.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``voltage`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("circuit", locals())

    def adsorption(
        self,
        source: Vertex | Sequence[Vertex],
        *,
        inject: float = 0.25,
        abandon: float = 0.05,
        iterations: int | None = None,
        tolerance: float = 1e-05,
        max_iterations: int = 100,
        ignore_weights: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Adsorption: how much of a label reaches each vertex from the vertices that have it.

        Seeds take the label with probability ``inject``, and every vertex abandons it with probability ``abandon``;
        otherwise the weighted mean over in-neighbours counts.

        Source: Baluja et al., WWW 2008. Exactness: sums of ``f32``.

        Args:
            source: a vertex with the label: an original id, or ``max-degree`` for the vertex with the most out-edges;
                one or several.
            inject: the probability of taking the label at a seed (p_inj).
            abandon: the probability of abandoning the walk at a vertex (p_abnd); p_cont is 1 - p_inj - p_abnd.
            iterations: run exactly this many iterations.
            tolerance: stop when the mean change of a vertex in an iteration is at most this share of the largest value;
                at least 1e-6.
            max_iterations: maximum number of iterations.
            ignore_weights: give every edge a weight of 1, even if the store has weights.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``mass`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("adsorption", locals())

    def bfs(
        self,
        source: Vertex,
        *,
        parents: bool = False,
        top_down: bool = False,
        max_depth: int | None = None,
        target: Vertex | None = None,
        path: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Breadth-first search: hops from a source to each vertex.

        Source: Beamer, Asanović and Patterson, SC 2012. Exactness: exact.

        Args:
            source: the source: an original id, or ``max-degree`` for the vertex with the most out-edges.
            parents: also keep each vertex's parent in the search tree, the first in the store of those one level up;
                ``output`` writes it.
            top_down: never read in-lists, even if the store has them: top-down only.
            max_depth: maximum number of hops: vertices beyond count as not reached.
            target: show a path from the source to this vertex, by its original id; also keeps parents.
            path: write that path to a CSV file: its vertices in order, each with its value.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``level`` (int64), ``parent`` (ids) with ``parents``.

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("bfs", locals())

    def cross_edges(
        self,
        from_: str | PathLike[str],
        to: str | PathLike[str],
        *,
        edges: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Cross-edges: the number of edges from one set of vertices to another.

        Counts per vertex of the first set. An undirected edge whose ends are in both sets counts at both ends.

        Source: Kim et al., SIGMOD 2016. Exactness: exact.

        Args:
            from_: the vertices that edges leave: a file of original ids, one per line, or - for standard input.
            to: the vertices that they enter: another file; only one of the two can be standard input.
            edges: also write the edges, with their weights where there are any: .el, .wel, .txt, .u32 or .u64.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``cross_edges`` (int64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("cross-edges", locals())

    def degrees(
        self,
        *,
        histogram: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Degrees: in- and out-degree of each vertex, and the number of vertices of each degree.

        A self-loop counts once as an out-edge and once as an in-edge; in an undirected graph, once.

        Source: counts. Exactness: exact.

        Args:
            histogram: write how many vertices have each degree to a file of comma-separated values.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``out_degree`` (int64), ``in_degree`` (int64), ``degree`` (int64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("degrees", locals())

    def neighbourhood(
        self,
        source: Vertex | Sequence[Vertex],
        hops: int,
        *,
        direction: Literal["out", "in", "both"] = "out",
        progress: bool | Watcher = False,
    ) -> Result:
        """Neighbourhood: the vertices within k hops of one or several sources.

        The answer is the number of hops from the nearest source, or -1 if that is more than ``hops``.

        Source: breadth-first search with a bound. Exactness: exact.

        Args:
            source: the sources: an original id, or ``max-degree``; one or several: hops count from the nearest one.
            hops: maximum number of hops.
            direction: which edges to follow: ``"out"``: along edges; ``"in"``: against edges; fast if the store has
                in-lists; ``"both"``: either way; a directed graph's store must have in-lists.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``level`` (int64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("neighbourhood", locals())

    def sssp(
        self,
        source: Vertex,
        *,
        delta: float | None = None,
        single: bool = False,
        cutoff: float | None = None,
        parents: bool = False,
        target: Vertex | None = None,
        path: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Shortest paths: distances of vertices from a source, by edge weights.

        Integer weights give integer distances of at most 2^32 - 3, or 2^64 - 3 where weights have 64 bits. Over float
        weights distances are in double precision: each addition along a path is rounded to the nearest f64. Weights of
        64 bits are read by CPUs only. Unreachable vertices get -1 (integer weights) or inf. A negative weight on the
        way is an error.

        Source: Bellman and Ford, by frontiers; Meyer and Sanders, 2003 (``delta``). Exactness: ``u32``, ``u64`` exact;
        ``f32``, ``f64`` sums of ``f64`` (``single`` ``f32``), the same bits.

        Args:
            source: the source: an original id, or ``max-degree`` for the vertex with the most out-edges.
            delta: width of a bucket of distances (delta-stepping): fewer lists are read twice, in more supersteps.
                ``inf``: no buckets. By default three mean weights where no vertex has more than 16 neighbours, as in
                roads and meshes, and no buckets elsewhere.
            single: distances over f32 weights in single precision: 4 bytes a vertex instead of 8, and on GPUs without
                64-bit atomics; the error grows with the length of a path, and distances above 3.4e38 count as
                unreachable.
            cutoff: largest distance: vertices that are farther away count as unreached, and the search stops there.
            parents: also keep each vertex's parent, the vertex before it on a shortest path; ``output`` writes it.
                Reads the store once more, and parts of it again where edges add nothing to a distance.
            target: show a path from the source to this vertex, by its original id; also keeps parents.
            path: write that path to a CSV file: its vertices in order, each with its value.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``distance`` (int64 or float64), ``parent`` (ids) with ``parents``.

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("sssp", locals())

    def clustering(
        self,
        *,
        table: int | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Local clustering coefficients, and triangle counts of undirected graphs.

        The share of all pairs of a vertex's neighbours that have an edge between them, as LDBC Graphalytics defines it.
        The graph is read once for each range of vertices whose lists fit in ``table``.

        Source: LDBC Graphalytics (LCC). Exactness: counts exact.

        Args:
            table: memory for lists of neighbours, in main memory and on each device: more is faster [default: a quarter
                of ``memory``, at most 1GiB].
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``coefficient`` (float64), ``triangles`` (int64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("clustering", locals())

    def communities(
        self,
        *,
        max_iterations: int = 10,
        table: int | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Communities by label propagation, by LDBC Graphalytics' deterministic rule.

        Every vertex takes the most frequent label among its neighbours, the smallest of several, as LDBC Graphalytics
        has it, whatever the order of the store. A label is the id of a vertex: the smallest is the smallest number, or
        the first name, compared byte by byte.

        Source: Raghavan, Albert and Kumara, 2007; LDBC Graphalytics (CDLP). Exactness: exact.

        Args:
            max_iterations: maximum number of iterations.
            table: memory for counting labels, in main memory and on each device: more is faster [default: a quarter of
                ``memory``, at most 1GiB, or 4GiB for undirected graphs on GPUs alone].
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``community`` (ids).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("communities", locals())

    def leiden(
        self,
        *,
        resolution: float | Sequence[float] | None = None,
        objective: Literal["modularity", "cpm"] = "modularity",
        weights: bool = False,
        iterations: int = 3,
        seed: int = 0,
        temporary: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Communities of high modularity, by Leiden's algorithm.

        Communities have many edges within, and few between them. The answer is the same for any number of threads and
        any order of pages; another ``seed`` is another one. No community is disconnected. The quality is recomputed
        from the stored edges at the end: modularity as NetworkX has it, of directed graphs by in- and out-strengths,
        loops and repeated edges included. With one GPU as ``device``, levels that fit in its memory are processed
        there, with the same bits. Levels that do not fit in memory are stores in ``temporary`` while the run lasts.

        Source: Traag, Waltman and van Eck, 2019. Exactness: same bits.

        Args:
            resolution: how small communities are: more is smaller. Of several, such as 0.5,1,2, each is a column; they
                read the first level together.
            objective: what is maximized: ``"modularity"``: modularity; ``"cpm"``: the constant Potts model: communities
                denser than the resolution.
            weights: edges count by their weights; otherwise every edge counts 1.
            iterations: maximum number of iterations over all levels; one that changes nothing is the last.
            seed: decides between what is equal: another seed is another answer.
            temporary: the folder of levels that do not fit in memory [default: the store's folder].
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``community`` (ids).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("leiden", locals())

    def louvain(
        self,
        *,
        resolution: float | Sequence[float] | None = None,
        objective: Literal["modularity", "cpm"] = "modularity",
        weights: bool = False,
        iterations: int = 3,
        seed: int = 0,
        temporary: str | PathLike[str] | None = None,
        progress: bool | Watcher = False,
    ) -> Result:
        """Communities of high modularity, by Louvain's algorithm: leiden without refinement.

        Communities have many edges within, and few between them. The answer is the same for any number of threads and
        any order of pages; another ``seed`` is another one. No community is disconnected. The quality is recomputed
        from the stored edges at the end: modularity as NetworkX has it, of directed graphs by in- and out-strengths,
        loops and repeated edges included. With one GPU as ``device``, levels that fit in its memory are processed
        there, with the same bits. Levels that do not fit in memory are stores in ``temporary`` while the run lasts.

        Source: Blondel, Guillaume, Lambiotte and Lefebvre, 2008. Exactness: same bits.

        Args:
            resolution: how small communities are: more is smaller. Of several, such as 0.5,1,2, each is a column; they
                read the first level together.
            objective: what is maximized: ``"modularity"``: modularity; ``"cpm"``: the constant Potts model: communities
                denser than the resolution.
            weights: edges count by their weights; otherwise every edge counts 1.
            iterations: maximum number of iterations over all levels; one that changes nothing is the last.
            seed: decides between what is equal: another seed is another answer.
            temporary: the folder of levels that do not fit in memory [default: the store's folder].
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``community`` (ids).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("louvain", locals())

    def widest(
        self,
        source: Vertex,
        *,
        progress: bool | Watcher = False,
    ) -> Result:
        """Widest paths: maximum bottleneck capacity from a source (the least weight on the path).

        Unreachable vertices get 0, as do those reached only over edges of weight 0. The source has the largest width:
        2^32 - 1 (integer weights) or inf (f32). A negative weight on the way is an error.

        Source: Pollack, 1960. Exactness: exact.

        Args:
            source: the source: an original id, or ``max-degree`` for the vertex with the most out-edges.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``width`` (int64 or float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("widest", locals())

    def components(
        self,
        *,
        progress: bool | Watcher = False,
    ) -> Result:
        """Connected components, ignoring edge directions.

        A component is named after the vertex with its smallest id: the smallest number, or the first name, compared
        byte by byte.

        Source: union-find with sampling (Afforest, Sutton et al., 2018) on one CPU; hooking and pointer jumping
        (Shiloach and Vishkin, 1982; Liu and Tarjan, 2019) on one GPU; least labels along edges on several devices.
        Exactness: exact.

        Args:
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``component`` (ids).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("components", locals())

    def scc(
        self,
        *,
        progress: bool | Watcher = False,
    ) -> Result:
        """Strongly connected components: parts of a directed graph in which every vertex reaches every other.

        Needs in-lists (format or reformat ``in_edges``). A component is named after the vertex with its smallest id:
        the smallest number, or the first name, compared byte by byte.

        Source: Orzan, 2004; Slota, Rajamanickam and Madduri, IPDPS 2014. Exactness: exact.

        Args:
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``component`` (ids).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("scc", locals())

    def radius(
        self,
        *,
        passes: int = 4,
        narrow: bool = False,
        seed: int = 1,
        progress: bool | Watcher = False,
    ) -> Result:
        """Radius and effective diameter, estimated from the number of vertices within each number of hops.

        Gives every vertex its eccentricity (a lower bound, in hops), its effective radius (hops to 90% of the vertices
        that it reaches) and the number of vertices that it reaches, from sketches; for the graph, its effective
        diameter.

        Source: Palmer, Gibbons and Faloutsos, KDD 2002; Kang et al., TKDD 2011. Exactness: estimates: 25% with one
        pass, 12% with 4.

        Args:
            passes: number of passes to average: the standard error of the number of neighbours is 25 % with 1, 12 %
                with 4, 6 % with 16.
            narrow: keep two bitmaps a vertex instead of eight: less memory, for GPUs that bind fewer than 22 buffers,
                and twice the error.
            seed: random seed.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``eccentricity`` (int64), ``radius`` (float64), ``neighbours`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("radius", locals())

    def betweenness(
        self,
        *,
        source: Vertex | Sequence[Vertex] | None = None,
        samples: int | None = None,
        seed: int = 1,
        double: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Betweenness centrality: how many shortest paths pass through each vertex.

        In hops, summed over all pairs; in an undirected graph each pair counts once (NetworkX's normalized=False).
        Exact betweenness needs one search per vertex: for larger graphs use ``samples``.

        Source: Brandes, 2001; Brandes and Pich, 2007. Exactness: sums of ``f32``; ``double`` sums of ``f64``.

        Args:
            source: search from these vertices only; sums are neither scaled nor halved: original ids, or
                ``max-degree``.
            samples: estimate it by searching from N randomly sampled sources.
            seed: random seed.
            double: count paths and sum in double precision: 28 bytes a vertex instead of 16, and on the CPU only.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``betweenness`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("betweenness", locals())

    def harmonic(
        self,
        *,
        source: Vertex | Sequence[Vertex] | None = None,
        samples: int | None = None,
        seed: int = 1,
        progress: bool | Watcher = False,
    ) -> Result:
        """Harmonic centrality: how few hops vertices are away from all others.

        The sum of 1 over the number of hops from each other vertex; vertices from which there is no path add nothing
        (NetworkX's harmonic_centrality). Exact centrality needs one search per vertex: for larger graphs use
        ``samples``.

        Source: Boldi and Vigna, 2014; Eppstein and Wang, 2004. Exactness: sums of ``f32``, the same bits.

        Args:
            source: search from these vertices only; sums are neither scaled nor halved: original ids, or
                ``max-degree``.
            samples: estimate it by searching from N randomly sampled sources.
            seed: random seed.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``harmonic`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("harmonic", locals())

    def kcore(
        self,
        *,
        out_lists: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Core numbers: the largest k such that a vertex is in the k-core, ignoring edge directions.

        A vertex's core number is the largest k such that it lies in a part of the graph where every vertex has at least
        k edges to others of that part. Repeated edges count each time, self-loops do not. For a directed graph,
        in-lists (format ``in_edges``) save most of the reads.

        Source: Seidman, Social Networks 1983; peeling (Matula and Beck, JACM 1983), or on one CPU, of an undirected
        graph from disk or with many threads, bounds that sink (SemiCore*, Wen et al., ICDE 2016). Exactness: exact.

        Args:
            out_lists: never read in-lists, even if the store has them: every round reads all out-lists.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``core`` (int64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("kcore", locals())

    def neural_network(
        self,
        *,
        activation: Literal["tanh", "sigmoid", "relu"] = "tanh",
        initial: float = 1.0,
        input: Mapping[Vertex, float] | str | Sequence[str] | None = None,
        iterations: int | None = None,
        tolerance: float = 1e-05,
        max_iterations: int = 100,
        ignore_weights: bool = False,
        progress: bool | Watcher = False,
    ) -> Result:
        """Neural network: apply an activation function to weighted sums over in-neighbours until convergence.

        Every vertex starts at ``initial``; ``input`` fixes the values of some vertices. Edges count by their weights,
        or as 1 if the store has none.

        Source: Khorasani, Gupta and Bhuyan, PACT 2015. Exactness: sums of ``f32``.

        Args:
            activation: activation function: ``"tanh"``: the hyperbolic tangent: from -1 to 1; ``"sigmoid"``: 1 / (1 +
                exp(-x)): from 0 to 1; ``"relu"``: max(x, 0).
            initial: initial value of every vertex.
            input: a vertex that is held at a value, by its original id; one or several; or a dictionary of vertices and
                values.
            iterations: run exactly this many iterations.
            tolerance: stop when an iteration changes every vertex by less than this.
            max_iterations: maximum number of iterations.
            ignore_weights: give every edge a weight of 1, even if the store has weights.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``value`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("neural-network", locals())

    def hits(
        self,
        *,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 100,
        progress: bool | Watcher = False,
    ) -> Result:
        """HITS: hubs, which link to good authorities, and authorities, which good hubs link to.

        Hubs and authorities are scaled to a sum of 1 each. Weights are ignored. Same as NetworkX's hits.

        Source: Kleinberg, Journal of the ACM 1999. Exactness: sums of ``f32``.

        Args:
            iterations: run exactly this many iterations.
            tolerance: stop when an iteration changes the hubs by less than this in total; they sum to 1.
            max_iterations: maximum number of iterations.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``hub`` (float64), ``authority`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("hits", locals())

    def eigenvector(
        self,
        *,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 1000,
        progress: bool | Watcher = False,
    ) -> Result:
        """Eigenvector centrality: proportional to the sum over in-neighbours.

        Values are scaled to a Euclidean norm of 1. Weights are ignored. Same as NetworkX's eigenvector_centrality.

        Source: Bonacich, Journal of Mathematical Sociology 1972. Exactness: sums of ``f32``.

        Args:
            iterations: run exactly this many iterations.
            tolerance: stop when the mean change of a vertex in an iteration is less than this.
            max_iterations: maximum number of iterations.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``centrality`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("eigenvector", locals())

    def katz(
        self,
        *,
        alpha: float = 0.1,
        beta: float = 1.0,
        iterations: int | None = None,
        tolerance: float = 1e-06,
        max_iterations: int = 1000,
        progress: bool | Watcher = False,
    ) -> Result:
        """Katz centrality: the number of walks that end at a vertex, discounted by length.

        Each vertex has ``alpha`` times the sum of its in-neighbours' values, plus ``beta``; values are scaled to a
        Euclidean norm of 1. ``alpha`` must be below 1 over the largest eigenvalue of the graph. Weights are ignored.
        Same as NetworkX's katz_centrality.

        Source: Katz, Psychometrika 1953. Exactness: sums of ``f32``.

        Args:
            alpha: attenuation factor per edge of a walk.
            beta: value of a vertex without in-neighbours.
            iterations: run exactly this many iterations.
            tolerance: stop when the mean change of a vertex in an iteration is less than this.
            max_iterations: maximum number of iterations.
            progress: show a bar; or a function that is called some times a second.

        Returns:
            For each vertex ``centrality`` (float64).

        Raises:
            ParameterError: an argument is not valid, or the graph lacks what the algorithm needs.
            BudgetError: the run does not fit in the session's memory.
        """
        return self._run("katz", locals())
