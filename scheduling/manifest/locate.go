package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Locate says where in the input the faults stand for which the snapshot's problem was
// refused after it had been read, by a [scheduling.Solver] for one: [*scheduling.FieldErrors]
// become [Faults] in the same order, each of which wraps the fault that it was. A fault in
// the template of a workload, which all of its pods share, is told once. What is not in the
// input, such as a catalog, has no location. Any other error is returned as it is.
func (s *Snapshot) Locate(err error) error {
	fields, ok := err.(*scheduling.FieldErrors) //nolint:errorlint // what is wrapped has more to say
	if !ok {
		return err
	}
	l := locator{snapshot: s}
	var out Faults
	seen := map[Fault]bool{}
	for _, e := range fields.Errors {
		f := l.fault(e)
		key := *f
		key.cause = nil
		if !seen[key] {
			seen[key] = true
			out = append(out, f)
		}
	}
	return out
}

// locator finds objects by the paths of faults.
type locator struct {
	snapshot *Snapshot
	pods     map[string]*corev1.Pod // to be placed; nil before the first is asked for
}

// fault says where the object of a fault stands.
func (l *locator) fault(e *scheduling.FieldError) *Fault {
	list, rest, _ := strings.Cut(e.Path, "[")
	name, field, named := strings.Cut(rest, "]")
	unknown := &Fault{Field: e.Path, Value: quote(e.Value), Message: e.Message, cause: e}
	if !named {
		return unknown
	}
	place, ok := l.find(list, name)
	if !ok {
		return unknown
	}
	if place.template != "" {
		field = "." + place.template + field
	}
	return &Fault{At: place.at, Object: place.object, Field: strings.TrimPrefix(field, "."), Value: quote(e.Value), Message: e.Message, cause: e}
}

// place is where an object stands in the input.
type place struct {
	at     Location
	object string
	// template is the path of the template by which a workload makes its pods; empty
	// for an object that stands in the input itself.
	template string
}

// find looks an entry of one of a problem's lists up by its name.
func (l *locator) find(list, name string) (place, bool) {
	for _, k := range listed(list) {
		if at, ok := l.at(k, name); ok {
			return place{at: at, object: k.name + " " + name}, true
		}
	}
	if list == "pods" {
		return l.workload(name)
	}
	return place{}, false
}

// at returns where an object of the input stands. What was made for a workload, such as
// its claims, stands nowhere.
func (l *locator) at(k kind, name string) (Location, bool) {
	namespace, object, namespaced := strings.Cut(name, "/")
	if !namespaced {
		namespace, object = "", name
	}
	at, ok := l.snapshot.seen[objectKey{k, namespace, object}]
	return at, ok && at.Source != ""
}

// workload finds the workload that a pod was made for.
func (l *locator) workload(pod string) (place, bool) {
	if l.pods == nil {
		l.pods = map[string]*corev1.Pod{}
		for _, p := range l.snapshot.Problem.Pods {
			l.pods[qualified(p)] = p
		}
	}
	p := l.pods[pod]
	if p == nil {
		return place{}, false
	}
	owner := metav1.GetControllerOf(p)
	if owner == nil {
		return place{}, false
	}
	top := l.snapshot.Workload(pod)
	for _, w := range templates() {
		if w.owner != owner.Kind {
			continue
		}
		if at, ok := l.at(w.kind, top); ok {
			return place{at: at, object: w.kind.name + " " + top, template: w.path}, true
		}
	}
	return place{}, false
}

// listed are the kinds of which one of a problem's lists is made.
func listed(list string) []kind {
	switch list {
	case "pods", "running":
		return []kind{{"", "Pod"}}
	case "nodes":
		return []kind{{"", "Node"}, {karpenterGroup, "NodeClaim"}}
	case "nodepools":
		return []kind{{karpenterGroup, "NodePool"}}
	case "daemonsets":
		return []kind{{"apps", "DaemonSet"}}
	case "claims":
		return []kind{{"", "PersistentVolumeClaim"}}
	case "volumes":
		return []kind{{"", "PersistentVolume"}}
	case "storageclasses":
		return []kind{{"storage.k8s.io", "StorageClass"}}
	case "csinodes":
		return []kind{{"storage.k8s.io", "CSINode"}}
	case "namespaces":
		return []kind{{"", "Namespace"}}
	case "services":
		return []kind{{"", "Service"}}
	case "replicationcontrollers":
		return []kind{{"", "ReplicationController"}}
	case "replicasets":
		return []kind{{"apps", "ReplicaSet"}}
	case "statefulsets":
		return []kind{{"apps", "StatefulSet"}}
	case "podDisruptionBudgets":
		return []kind{{"policy", "PodDisruptionBudget"}}
	}
	return nil
}

// made says which pods are made by what template.
type made struct {
	owner string // the kind that the pods name as their controller
	kind  kind
	path  string
}

// templates are those of all workloads. A Deployment's pods name its ReplicaSet.
func templates() []made {
	return []made{
		{"ReplicaSet", kind{"apps", "Deployment"}, "spec.template"},
		{"ReplicaSet", kind{"apps", "ReplicaSet"}, "spec.template"},
		{"StatefulSet", kind{"apps", "StatefulSet"}, "spec.template"},
		{"ReplicationController", kind{"", "ReplicationController"}, "spec.template"},
		{"Job", kind{"batch", "Job"}, "spec.template"},
		{"CronJob", kind{"batch", "CronJob"}, "spec.jobTemplate.spec.template"},
	}
}
