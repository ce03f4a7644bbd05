// Loads an edge list with GraphX, runs PageRank and connected components, and writes their values.
// For spark-shell; GRAPHX holds: the edge list, the folder for results, the number of iterations, that of partitions.

import org.apache.spark.graphx._
import org.apache.spark.storage.StorageLevel

val Array(edges, results, iterations, partitions) = sys.env("GRAPHX").split(' ')

def timed[T](what: String)(work: => T): T = {
  val begun = System.nanoTime
  val made = work
  println(s"TIME $what ${(System.nanoTime - begun) / 1e9}")
  made
}

val graph = timed("load") {
  val level = StorageLevel.MEMORY_AND_DISK
  val loaded = GraphLoader.edgeListFile(sc, edges, numEdgePartitions = partitions.toInt,
    edgeStorageLevel = level, vertexStorageLevel = level)
  println(s"EDGES ${loaded.edges.count} ${loaded.vertices.count}")
  loaded
}
val ranks = timed("pagerank") {
  val found = graph.staticPageRank(iterations.toInt, 0.15).vertices
  found.count
  found
}
val components = timed("components") {
  val found = graph.connectedComponents().vertices
  found.count
  found
}
ranks.map { case (vertex, rank) => s"$vertex,$rank" }.saveAsTextFile(s"$results/ranks")
components.map { case (vertex, first) => s"$vertex,$first" }.saveAsTextFile(s"$results/components")

val status = scala.io.Source.fromFile("/proc/self/status").getLines
println("PEAK " + status.find(_.startsWith("VmHWM")).get.split("\\s+")(1))
sys.exit(0)
