package realised

import (
	"encoding/json"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// WriteManifests writes a [Mix]'s problem as a list of its objects, as kubectl prints them.
// Of other problems it writes pods that wait, NodePools and ReplicaSets alone.
func WriteManifests(out io.Writer, p *scheduling.Problem) error {
	var items []any
	for _, pool := range p.NodePools {
		items = append(items, pool)
	}
	for _, set := range p.Owners.ReplicaSets {
		items = append(items, set)
	}
	for _, pod := range p.Pods {
		pod = pod.DeepCopy()
		pod.TypeMeta = metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Pod"}
		items = append(items, pod)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", " ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
