package explain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/samber/lo"
)

// Subject is the object of a question: its kind (pod, node, launch, or the kind of a workload) and its name, with or
// without a namespace.
type Subject struct{ Kind, Name string }

// kinds are the kinds that can be asked about, with the names by which kubectl knows
// them.
func kinds() map[string]string {
	return map[string]string{
		"pod":                   "pod pods po",
		"node":                  "node nodes no",
		"launch":                "launch launches nodeclaim nodeclaims",
		"Deployment":            "deployment deployments deploy",
		"StatefulSet":           "statefulset statefulsets sts",
		"ReplicaSet":            "replicaset replicasets rs",
		"ReplicationController": "replicationcontroller replicationcontrollers rc",
		"DaemonSet":             "daemonset daemonsets ds",
		"CronJob":               "cronjob cronjobs cj",
		"Job":                   "job jobs",
	}
}

// Parse reads subjects such as pod/shop/web-0, or shop/web-0 for short. An object that is named without its namespace is in
// the given one, or in any if that is "".
func Parse(args []string, namespace string) ([]Subject, error) {
	const want = "want pod/NAMESPACE/NAME, pod/NAME, node/NAME or a workload such as deployment/NAME"
	if len(args) == 0 {
		return nil, errors.New("nothing to explain: " + want)
	}
	var out []Subject
	for _, arg := range args {
		typed, name, _ := strings.Cut(arg, "/")
		kind, known := lo.FindKeyBy(kinds(), func(_, names string) bool {
			return slices.Contains(strings.Fields(names), strings.ToLower(typed))
		})
		if !known {
			if !strings.Contains(arg, "/") {
				return nil, fmt.Errorf("%q has no kind: write deployment/%s, pod/%s or node/%s", arg, arg, arg, arg)
			}
			kind, name = "pod", arg // as plans write pods
		}
		namespaced := kind != "node" && kind != "launch"
		if name == "" || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Count(name, "/") > 1 || !namespaced && strings.Contains(name, "/") {
			return nil, fmt.Errorf("%q names no %s: %s", arg, kind, want)
		}
		if namespaced && namespace != "" && !strings.Contains(name, "/") {
			name = namespace + "/" + name
		}
		out = append(out, Subject{kind, name})
	}
	return out, nil
}
