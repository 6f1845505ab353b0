package main

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"

	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// workload is a controller and its pods.
type workload struct {
	kind, namespace, name string
	replicas              int // at the peak
	options               []st.PodOption
	spread                int32  // over zones, by at most so much; 0: not
	exclusive             bool   // at most one pod a node
	disk                  bool   // each pod has a volume
	keep                  bool   // its pods must not be disrupted
	budget                string // a field of its PodDisruptionBudget
	amount                string
	scaled                bool // by a HorizontalPodAutoscaler
	pods                  []*placed
	template              *corev1.Pod
}

// systemService is a Deployment in kube-system, whose pods run on any node, rather on different ones.
func systemService(name string, replicas int, cpu, memory int64, opts ...st.PodOption) *workload {
	w := &workload{kind: "Deployment", namespace: "kube-system", name: name, replicas: replicas}
	w.options = append([]st.PodOption{
		st.Requests(st.MilliCPU(cpu), st.MiB(memory)), st.Priority(2000000000), st.TolerateKey("CriticalAddonsOnly", ""),
		st.Apart(corev1.LabelHostname, st.Weight(100), st.Of("app", name)),
	}, opts...)
	if replicas > 1 {
		w.budget, w.amount = "maxUnavailable", "1"
	}
	return w
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// draw is the next workload of a cluster, for one in about five of a group of its own.
func draw(r *rand.Rand, v *vendor, i int) *workload {
	namespaces := []string{"shop", "payments", "search", "platform", "data", "ml"}
	w := &workload{kind: "Deployment", namespace: pick(r, namespaces...)}
	w.name = fmt.Sprintf("%s-%s", pick(r, "cart", "catalog", "checkout", "invoice", "ledger", "mailer", "orders", "pricing", "profile", "ranking", "recommender", "refunds", "sessions", "stock"),
		pick(r, "api", "worker", "web", "consumer", "gateway", "cache", "sync"))
	w.name = fmt.Sprintf("%s-%d", w.name, i)
	w.replicas = pick(r, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8, 12, 20)
	cpu, memory := pick[int64](r, 50, 50, 100, 100, 100, 200, 200, 250, 250, 500, 500, 1000), pick[int64](r, 128, 256, 256, 512, 512, 1024, 1024, 1536, 2048, 4096)
	switch r.IntN(10) {
	case 0:
		w.kind, w.disk, w.replicas = "StatefulSet", true, pick(r, 1, 1, 2, 3, 3, 5)
		cpu, memory = pick[int64](r, 250, 500, 1000), pick[int64](r, 1024, 2048, 4096)
	case 1:
		w.kind, w.replicas = "Job", pick(r, 1, 2, 4, 6)
		cpu, memory = pick[int64](r, 500, 1000, 1500), pick[int64](r, 1024, 2048)
	}
	w.options = []st.PodOption{st.Requests(st.MilliCPU(cpu), st.MiB(memory))}
	if r.IntN(2) == 0 {
		w.options = append(w.options, st.Limits(st.MiB(memory*pick[int64](r, 1, 1, 2))))
	}
	if r.IntN(6) == 0 {
		w.options = append(w.options, st.Init(st.MilliCPU(100), st.MiB(128)), st.Sidecar(st.MilliCPU(100), st.MiB(128)))
	}
	if r.IntN(8) == 0 {
		w.options = append(w.options, st.Priority(100000))
	}
	w.place(r, v)
	if w.replicas > 1 && w.kind != "Job" && r.IntN(2) == 0 {
		w.budget = pick(r, "maxUnavailable", "maxUnavailable", "minAvailable")
		w.amount = pick(r, "1", "25%", "50%")
	} else if w.replicas == 1 && r.IntN(8) == 0 {
		w.budget, w.amount = "minAvailable", "1" // allows no eviction, because there is one replica
	}
	w.scaled = w.kind == "Deployment" && w.replicas > 2 && r.IntN(3) == 0
	w.keep = w.kind == "Job" && r.IntN(2) == 0 || r.IntN(40) == 0
	return w
}

// place gives two in five workloads terms about where their pods go.
func (w *workload) place(r *rand.Rand, v *vendor) {
	own := st.Of("app", w.name)
	switch r.IntN(20) {
	case 0, 1:
		w.spread = pick[int32](r, 1, 1, 2)
		w.options = append(w.options, st.Spread(corev1.LabelTopologyZone, st.Skew(w.spread), own))
	case 2:
		w.options = append(w.options, st.Spread(corev1.LabelTopologyZone, st.Soft(), own), st.Spread(corev1.LabelHostname, st.Soft(), own))
	case 3:
		w.exclusive, w.replicas = true, min(w.replicas, 4)
		w.options = append(w.options, st.Apart(corev1.LabelHostname, own))
	case 4:
		w.options = append(w.options, st.Apart(corev1.LabelHostname, st.Weight(100), own))
	case 5, 6, 7, 8:
		// A group of its own. Those without a taint are chosen by a label, which here is their cloud's or their own.
		g := pick(r, v.groups...)
		if g.name == "system" {
			return
		}
		if g.taint != nil {
			w.options = append(w.options, st.Tolerate(g.taint.Key, g.taint.Value, g.taint.Effect))
		}
		for _, key := range []string{"example.com/tier", "cloud.google.com/compute-class", "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool"} {
			if value, ok := g.labels[key]; ok {
				w.options = append(w.options, st.Select(key, value))
				return
			}
		}
		if g.name == "graviton" {
			w.options = append(w.options, st.Select(corev1.LabelArchStable, "arm64"))
		}
	}
}
