package snapshot

// WorkloadCounts are the number of pods of each workload, running or pending, and of running pods that stay, by node.
type WorkloadCounts struct {
	Sizes map[string]int
	On    map[string]map[string]int
}

// CountWorkloads counts the pods of each workload.
func CountWorkloads(w *State) *WorkloadCounts {
	c := &WorkloadCounts{Sizes: make(map[string]int), On: make(map[string]map[string]int)}
	for _, t := range w.Pods {
		c.Sizes[w.Reader.WorkloadOf(t.Object)]++
	}
	for _, pod := range w.Running {
		if workload, node := w.Reader.WorkloadOf(pod), pod.Spec.NodeName; Live(pod) {
			if c.On[node] == nil {
				c.On[node] = make(map[string]int)
			}
			c.On[node][workload]++
			c.Sizes[workload]++
		}
	}
	return c
}
