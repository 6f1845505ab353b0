package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespaces, services, claims and other objects around pods go into the problem, in the order of names.
func TestSurroundings(t *testing.T) {
	named := func(apiVersion, kind, names string) string {
		var b strings.Builder
		for name := range strings.FieldsSeq(names) {
			b.WriteString("apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + "}\n---\n")
		}
		return b.String()
	}
	s := read(t, named("v1", "PersistentVolumeClaim", "b a")+named("v1", "PersistentVolume", "b a")+named("storage.k8s.io/v1", "StorageClass", "b a")+
		named("storage.k8s.io/v1", "CSINode", "b a")+named("v1", "Namespace", "b a")+named("v1", "Service", "b a")+
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 0, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c}]}}}\n---\n"+
		"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: rc}\nspec: {replicas: 0, selector: {app: rc}, template: {metadata: {labels: {app: rc}}, spec: {containers: [{name: c}]}}}\n")
	p := s.Problem
	for _, list := range [][]metav1.Object{
		{p.Claims[0], p.Claims[1]}, {p.Volumes[0], p.Volumes[1]}, {p.StorageClasses[0], p.StorageClasses[1]},
		{p.CSINodes[0], p.CSINodes[1]}, {p.Namespaces[0], p.Namespaces[1]}, {p.Services[0], p.Services[1]},
	} {
		require.Equal(t, "a", list[0].GetName())
		require.Equal(t, "b", list[1].GetName())
	}
	require.Equal(t, "default", p.Claims[0].Namespace)
	require.Equal(t, "default", p.Services[0].Namespace)
	require.Equal(t, "db", p.Owners.StatefulSets[0].Name)
	require.Equal(t, "rc", p.Owners.ReplicationControllers[0].Name)
	require.Empty(t, p.Owners.ReplicaSets)
}

// revision writes a ReplicaSet of the Deployment web with a template.
func revision(name, number, template string) string {
	return "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: " + name + ", namespace: shop, uid: u-" + name + ", annotations: {deployment.kubernetes.io/revision: \"" + number + "\"}, " +
		"ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, controller: true, uid: u}]}\n" +
		"spec: {replicas: 0, selector: {matchLabels: {app: x, pod-template-hash: " + name + "}}, template: {metadata: {labels: {app: x, pod-template-hash: " + name + "}}, " + template + "}}\n---\n"
}

// Pods of a Deployment belong to the ReplicaSet of its present revision.
func TestPodsOfRevisions(t *testing.T) {
	deploy := object("apps/v1", "Deployment", "web", "{replicas: 2, selector: {matchLabels: {app: x}}, "+template+"}")
	now := "spec: {containers: [{name: main, resources: {requests: {cpu: 100m}}}]}"
	before := "spec: {containers: [{name: main, resources: {requests: {cpu: 200m}}}]}"
	tests := map[string]struct {
		text, owner, hash string
		sets              []string
	}{
		"none in the input":        {deploy, "web", "", []string{"web"}},
		"the present one":          {deploy + revision("web-b", "2", now), "web-b", "web-b", []string{"web-b"}},
		"an older one":             {deploy + revision("web-a", "1", before), "web", "", []string{"web", "web-a"}},
		"both":                     {deploy + revision("web-a", "1", before) + revision("web-b", "2", now), "web-b", "web-b", []string{"web-a", "web-b"}},
		"rolled back":              {deploy + revision("web-a", "3", now) + revision("web-b", "2", before), "web-a", "web-a", []string{"web-a", "web-b"}},
		"two alike, by revision":   {deploy + revision("web-a", "2", now) + revision("web-b", "11", now), "web-b", "web-b", []string{"web-a", "web-b"}},
		"two alike, by name":       {deploy + revision("web-b", "x", now) + revision("web-a", "", now), "web-a", "web-a", []string{"web-a", "web-b"}},
		"of another Deployment":    {deploy + strings.ReplaceAll(revision("web-b", "2", now), "name: web,", "name: api,"), "web", "", []string{"web", "web-b"}},
		"of another name entirely": {deploy + object("apps/v1", "ReplicaSet", "web", "{replicas: 0, "+template+"}"), "web", "", []string{"web"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := read(t, tt.text)
			require.Equal(t, []string{"shop/web-0", "shop/web-1"}, pods(s))
			for _, p := range s.Problem.Pods {
				require.Equal(t, "ReplicaSet", p.OwnerReferences[0].Kind)
				require.Equal(t, tt.owner, p.OwnerReferences[0].Name)
				require.Equal(t, tt.hash, p.Labels["pod-template-hash"])
				require.Equal(t, "shop/web", s.Workload("shop/"+p.Name))
			}
			var sets []string
			for _, set := range s.Problem.Owners.ReplicaSets {
				sets = append(sets, set.Name)
			}
			require.Equal(t, tt.sets, sets)
		})
	}
	s := read(t, strings.Replace(deploy, "replicas: 2", "replicas: 0", 1))
	require.Empty(t, s.Problem.Owners.ReplicaSets, "nothing owns no pods")
}

// Claims get the default class where admission would give it to them.
func TestDefaultClass(t *testing.T) {
	class := func(name, created string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " + name + ", creationTimestamp: " + created + ", annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\nprovisioner: p\n---\n"
	}
	claim := func(meta, spec string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data" + meta + "}\nspec: {" + spec + "}\n---\n"
	}
	classes := class("old", "2026-01-01T00:00:00Z") + class("new", "2026-02-01T00:00:00Z") + class("same", "2026-02-01T00:00:00Z") +
		"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: newest, creationTimestamp: 2026-03-01T00:00:00Z}\nprovisioner: p\n---\n"
	named := "x"
	none := ""
	usual := "new"
	for name, tt := range map[string]struct {
		text string
		want *string
	}{
		"the newest":              {classes + claim("", ""), &usual},
		"a class of its own":      {classes + claim("", "storageClassName: x"), &named},
		"no class, on purpose":    {classes + claim("", "storageClassName: \"\""), &none},
		"in the old annotation":   {classes + claim(", annotations: {volume.beta.kubernetes.io/storage-class: x}", ""), nil},
		"been through admission":  {classes + claim(", uid: u", ""), nil},
		"a volume of its choice":  {classes + claim("", "volumeName: v"), nil},
		"there is no default one": {claim("", ""), nil},
	} {
		s := read(t, tt.text)
		require.Equal(t, tt.want, s.Problem.Claims[0].Spec.StorageClassName, name)
	}
	s := read(t, classes+object("apps/v1", "StatefulSet", "db", "{"+template+", volumeClaimTemplates: [{metadata: {name: data}, spec: {}}]}"))
	require.Equal(t, "data-db-0", s.Problem.Claims[0].Name)
	require.Equal(t, "new", *s.Problem.Claims[0].Spec.StorageClassName)
}
