package regions

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/internal/clouds"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// clue is a label, field or API group of an input object that belongs to a cloud.
type clue struct {
	object string // kind/name
	from   string // the label, field or group that says so
	cloud  clouds.Cloud
}

// clues collects clues, the first of each cloud.
type clues []clue

// see takes note of a name in an object, such as a label key or an API group, that may be in the
// domain of a cloud.
func (c *clues) see(object, name string) {
	domain, rest, _ := strings.Cut(name, "/")
	if domain == "kubernetes.io" { // volume plugins that were part of Kubernetes
		domain = map[string]string{"aws-ebs": "ebs.csi.aws.com", "azure-disk": "disk.csi.azure.com", "gce-pd": "pd.csi.storage.gke.io"}[rest]
	}
	if cloud, ok := clouds.OfDomain(domain); ok {
		*c = append(*c, clue{object, name, cloud})
	}
}

// keys takes note of label keys.
func (c *clues) keys(object string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		c.see(object, key)
	}
}

// ofMachines are the clues of nodes, NodePools, node classes and volumes.
func ofMachines(input *manifest.Snapshot) (found clues) {
	for _, node := range input.Problem.Nodes {
		scheme, _, ok := strings.Cut(node.Spec.ProviderID, "://")
		if cloud, known := clouds.OfProvider(scheme); ok && known {
			found = append(found, clue{"Node/" + node.Name, "spec.providerID", cloud})
		}
		found.keys("Node/"+node.Name, node.Labels)
	}
	for _, pool := range input.Problem.NodePools {
		object, template := "NodePool/"+pool.Name, &pool.Spec.Template
		if class := template.Metadata.Labels["cloud.google.com/compute-class"]; class != "" {
			object = "ComputeClass/" + class // which the NodePool was made of
		}
		if template.Spec.NodeClassRef != nil {
			found.see(object, template.Spec.NodeClassRef.Group)
		}
		for _, r := range template.Spec.Requirements {
			found.see(object, r.Key)
		}
		found.keys(object, template.Metadata.Labels)
	}
	for _, ref := range input.NodeClassRefs() {
		found.see(ref.Kind+"/"+ref.Name, ref.Group)
	}
	for _, class := range input.Problem.StorageClasses {
		found.see("StorageClass/"+class.Name, class.Provisioner)
	}
	for _, volume := range input.Problem.Volumes {
		if csi := volume.Spec.CSI; csi != nil {
			found.see("PersistentVolume/"+volume.Name, csi.Driver)
		}
	}
	return found
}

// ofPods are the clues of the labels by which pods select their nodes.
func ofPods(pods []*corev1.Pod) (found clues) {
	for _, pod := range pods {
		object := "Pod/" + scheduling.PodName(pod)
		found.keys(object, pod.Spec.NodeSelector)
		a := pod.Spec.Affinity
		if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			continue
		}
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range term.MatchExpressions {
				if e.Operator == corev1.NodeSelectorOpIn || e.Operator == corev1.NodeSelectorOpExists {
					found.see(object, e.Key)
				}
			}
		}
	}
	return found
}

// Assumed returns the name of the catalog for an input that names no region: fallback, if the input belongs to the cloud
// of fallback or to no known cloud. Node selectors of pods count only if no node, NodePool or volume names a cloud, and
// if they name only one. An input of another cloud is an error that asks for a region, because prices of the wrong cloud
// would be worthless.
func Assumed(input *manifest.Snapshot, fallback string) (string, error) {
	if input == nil {
		return fallback, nil
	}
	found := lo.UniqBy(ofMachines(input), func(c clue) string { return c.cloud.Title })
	if len(found) == 0 {
		found = lo.UniqBy(ofPods(input.Problem.Pods), func(c clue) string { return c.cloud.Title })
		if len(found) > 1 {
			found = nil
		}
	}
	if len(found) == 0 || len(found) == 1 && found[0].cloud.Name != "" && strings.HasPrefix(fallback, found[0].cloud.Name+"/") {
		return fallback, nil
	}
	names := lo.Map(found, func(c clue, _ int) string { return fmt.Sprintf("%s (%s: %s)", c.cloud.Title, c.object, c.from) })
	var ways []string
	for _, c := range found {
		if c.cloud.Name != "" {
			ways = append(ways, fmt.Sprintf("--catalog %s/REGION, e.g. %s/%s", c.cloud.Name, c.cloud.Name, c.cloud.Usual))
		}
	}
	if len(ways) == 0 {
		return "", fmt.Errorf("the input is of %s, for which no catalog is embedded: pass a price list with --catalog FILE (plimsoll catalog -o csv prints the format)", figures.Join(names))
	}
	return "", fmt.Errorf("the input is of %s, and names no region: choose one with %s (plimsoll catalog --regions lists them), or pass a FILE of your own", figures.Join(names), strings.Join(ways, ", or "))
}
