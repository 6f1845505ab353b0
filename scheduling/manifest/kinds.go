package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/internal/spelling"
)

// kind names a kind of object by its API group and name.
type kind struct{ group, name string }

// reader says how the objects of a kind are read, and in which versions its fields mean
// what we take them to mean, the present one first.
type reader struct {
	read     func(*collector, rawObject)
	versions []string
}

// readers are the kinds that are read.
func readers() map[kind]reader {
	v1 := []string{"v1"}
	beta := []string{"v1", "v1beta1"}
	apps := []string{"v1", "v1beta2", "v1beta1"}
	return map[kind]reader{
		{"", "Pod"}:                                    {(*collector).pod, v1},
		{"", "Node"}:                                   {(*collector).node, v1},
		{"", "Namespace"}:                              {(*collector).namespace, v1},
		{"", "ReplicationController"}:                  {(*collector).replicationController, v1},
		{"", "LimitRange"}:                             {(*collector).limitRange, v1},
		{"", "ResourceQuota"}:                          {(*collector).resourceQuota, v1},
		{"", "Service"}:                                {(*collector).service, v1},
		{"", "PersistentVolumeClaim"}:                  {(*collector).volumeClaim, v1},
		{"", "PersistentVolume"}:                       {(*collector).volume, v1},
		{"apps", "Deployment"}:                         {(*collector).deployment, apps},
		{"apps", "StatefulSet"}:                        {(*collector).statefulSet, apps},
		{"apps", "ReplicaSet"}:                         {(*collector).replicaSet, apps},
		{"apps", "DaemonSet"}:                          {(*collector).daemonSet, apps},
		{"batch", "Job"}:                               {(*collector).job, v1},
		{"batch", "CronJob"}:                           {(*collector).cronJob, beta},
		{"autoscaling", "HorizontalPodAutoscaler"}:     {(*collector).autoscaler, []string{"v2", "v1", "v2beta2", "v2beta1"}},
		{"policy", "PodDisruptionBudget"}:              {(*collector).disruptionBudget, beta},
		{"scheduling.k8s.io", "PriorityClass"}:         {(*collector).priorityClass, []string{"v1", "v1beta1", "v1alpha1"}},
		{"node.k8s.io", "RuntimeClass"}:                {(*collector).runtimeClass, beta},
		{"storage.k8s.io", "StorageClass"}:             {(*collector).storageClass, beta},
		{"storage.k8s.io", "CSINode"}:                  {(*collector).csiNode, beta},
		{schedulerGroup, "KubeSchedulerConfiguration"}: {(*collector).schedulerConfiguration, v1},
		{karpenterGroup, "NodePool"}:                   {(*collector).nodePool, beta},
		{karpenterGroup, "NodeClaim"}:                  {(*collector).nodeClaim, beta},
		{karpenterGroup, "Provisioner"}:                {(*collector).provisioner, []string{"v1alpha5"}},
		{awsGroup, "AWSNodeTemplate"}:                  {(*collector).nodeTemplate, []string{"v1alpha1"}},
		{karpenterGroup, "NodeOverlay"}:                {(*collector).nodeOverlay, []string{"v1alpha1"}},
		{awsGroup, "EC2NodeClass"}:                     {(*collector).ec2NodeClass, beta},
		{azureGroup, "AKSNodeClass"}:                   {(*collector).aksNodeClass, []string{"v1beta1", "v1alpha2"}},
		{kwokGroup, "KWOKNodeClass"}:                   {(*collector).kwokNodeClass, []string{"v1alpha1"}},
	}
}

// karpenterGroup is the API group of NodePools.
const karpenterGroup = "karpenter.sh"

// The API groups of node classes that are read.
const (
	awsGroup   = "karpenter.k8s.aws"
	azureGroup = "karpenter.azure.com"
	kwokGroup  = "karpenter.kwok.sh"
)

// schedulerGroup is the API group of kube-scheduler's configuration file.
const schedulerGroup = "kubescheduler.config.k8s.io"

// kustomizeGroup is the API group of kustomize's recipes, which no cluster holds.
const kustomizeGroup = "kustomize.config.k8s.io"

// moved returns the group and version that an object of the group extensions has had
// since its kind moved to the group apps.
func (c *collector) moved(k kind, version string) (kind, string) {
	if k.group != "extensions" {
		return k, version
	}
	now := kind{"apps", k.name}
	if _, ok := c.readers[now]; !ok {
		return k, version
	}
	return now, version
}

// add takes one object in.
func (c *collector) add(o rawObject) {
	group, version := splitVersion(o.apiVersion)
	k, version := c.moved(kind{group, o.kind}, version)
	at := func(reason Reason, field, value, msg string) {
		c.fault(&Fault{At: o.at, Object: refOf(o), Field: field, Value: quote(value), Message: msg, Reason: reason})
	}
	r, read := c.readers[k]
	switch {
	case o.apiVersion == "":
		at(NoObject, "apiVersion", "", "is missing")
	case read && slices.Contains(r.versions, version):
		if k.group != group {
			o.apiVersion = k.group + "/" + version
		}
		c.accept(r, o)
	case read:
		at(Invalid, "apiVersion", o.apiVersion, fmt.Sprintf("is not known for %s; known is %s", o.kind, versionList(k.group, r.versions)))
	case deploys(k):
		meta := peek(o)
		count(c.deploying, k, warned(o.kind, &meta), "")
	case irrelevant(k):
	case k.group == kustomizeGroup:
		at(Kustomize, "kind", o.kind, fmt.Sprintf("of %s is not an object of a cluster: run kubectl kustomize and plan what it prints", o.apiVersion))
	case c.loader.IgnoreUnknown:
		meta := peek(o)
		count(c.kinds, k, warned(o.kind, &meta), "")
	case !isGroup(k.group):
		at(NoObject, "apiVersion", o.apiVersion, "is not of a cluster: groups other than those of Kubernetes are domains")
	default:
		at(UnknownKind, "kind", o.kind, fmt.Sprintf("of %s %s", o.apiVersion, c.unknownHint(k)))
	}
}

// isGroup says whether a cluster may have an API group: those that do not come with
// Kubernetes have a dot.
func isGroup(group string) bool {
	return strings.Contains(group, ".") || slices.Contains([]string{"", "apps", "autoscaling", "batch", "extensions", "policy"}, group)
}

// unknownHint says what to do about a kind that is not known.
func (c *collector) unknownHint(k kind) string {
	if meant := c.meantKind(k); meant != "" {
		return "is not known" + didYouMean(meant)
	}
	const without = "; to plan without it, use --ignore-unknown (Loader.IgnoreUnknown)"
	if _, known := podGroups()[k.group]; known {
		return "stands for pods that its operator makes and that the plan would miss: pass what it has made" + without
	}
	return "is not known, and may stand for pods that the plan would miss" + without
}

// meantKind says which kind was probably meant by one that is not known: one of
// another group, or one that is spelt almost the same. A group that is none of
// Kubernetes's or Karpenter's has kinds of its own.
func (c *collector) meantKind(k kind) string {
	var names []string
	ours := false
	have := slices.SortedFunc(maps.Keys(c.readers), func(a, b kind) int {
		return cmp.Or(strings.Compare(a.group, b.group), strings.Compare(a.name, b.name))
	})
	for _, h := range have {
		ours = ours || h.group == k.group
		names = append(names, h.name)
	}
	if !ours {
		return ""
	}
	name := spelling.Nearest(k.name, names)
	for _, h := range have {
		if h.name == name {
			return fmt.Sprintf("kind %s of %s", name, versionList(h.group, c.readers[h].versions[:1]))
		}
	}
	return ""
}

// splitVersion takes an apiVersion apart.
func splitVersion(apiVersion string) (group, version string) {
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", apiVersion
	}
	return group, version
}
