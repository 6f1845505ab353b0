package search

// onLaunches counts the pods on machines that a trial buys.
func (x *trial) onLaunches() (n int64) {
	for i := range x.Solution.Nodes {
		for _, it := range x.Solution.Nodes[i].Items {
			n += x.Solution.Nodes[i].N * it.N * size(x.Parts[it.Class].Portions)
		}
	}
	return n
}
