package controlplane

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// shadowUser is the service account of adapters/karpenter/shadow/deploy.yaml.
const shadowUser = "system:serviceaccount:plimsoll:plimsoll-shadow"

// karpenter is a control plane with Karpenter's KWOK provider, on which a build of Karpenter runs.
type karpenter struct {
	*cluster

	claims dynamic.NamespaceableResourceInterface
	// hold keeps new nodes from getting ready.
	hold atomic.Bool
	// build is the build of Karpenter that runs.
	build *Program
	// types is the file of KWOK's instance types, shadow the program of the shadow.
	types  string
	shadow *Program
}

func newKarpenter(t *testing.T) *karpenter {
	module := func(name string) string {
		command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", name)
		command.Dir = "../karpenter"
		out, err := command.Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out)) + "/"
	}("sigs.k8s.io/karpenter")
	p := Start(t)
	x := &karpenter{cluster: &cluster{ControlPlane: p, whole: t, t: t}, types: module + "kwok/cloudprovider/instance_types.json"}
	definitions, err := filepath.Glob(module + "pkg/apis/crds/*.yaml")
	require.NoError(t, err)
	require.NoError(t, p.Apply(t.Context(), append(definitions, module+"kwok/apis/crds/karpenter.kwok.sh_kwoknodeclasses.yaml",
		"testdata/karpenter.yaml", "testdata/workloads.yaml", "../karpenter/shadow/deploy.yaml")...))
	client, err := dynamic.NewForConfig(p.Config)
	require.NoError(t, err)
	x.claims = client.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"})
	x.catalog = kwokCatalog(t, x.types)
	// The shadow runs beside the control plane here, so that its own pod needs no node.
	none := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: "plimsoll", Name: "plimsoll-shadow"}}
	_, err = p.Client.AppsV1().Deployments("plimsoll").UpdateScale(t.Context(), none.Name, none, metav1.UpdateOptions{})
	require.NoError(t, err)
	x.eventually("the shadow has no pod", func() bool {
		pods, err := p.Client.CoreV1().Pods("plimsoll").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(pods.Items) == 0
	})
	p.ServeNodes(t, &x.hold)
	return x
}

// run runs a build of Karpenter in the place of the one before.
func (x *karpenter) run(file string) {
	if x.build != nil {
		x.build.Kill()
	}
	x.build = x.Run(x.whole, "karpenter", file, nil, []string{
		"DISABLE_LEADER_ELECTION=true", "METRICS_PORT=0", "HEALTH_PROBE_PORT=0", "BATCH_IDLE_DURATION=500ms", "BATCH_MAX_DURATION=2s",
	})
}

// nodeClaims are the NodeClaims that are not being deleted, by name.
func (x *karpenter) nodeClaims() map[string]*unstructured.Unstructured {
	list, err := x.claims.List(x.t.Context(), metav1.ListOptions{})
	require.NoError(x.t, err)
	out := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		if list.Items[i].GetDeletionTimestamp() == nil {
			out[list.Items[i].GetName()] = &list.Items[i]
		}
	}
	return out
}

// perHour is the price of all nodes.
func (x *karpenter) perHour() (sum offerings.Price) {
	for _, node := range x.nodes() {
		o, ok := x.catalog.LookupNode(&node)
		require.True(x.t, ok, node.Name)
		sum += o.Price
	}
	return sum
}

// closeTo waits until the nodes cost at most so many times the lower bound.
func (x *karpenter) closeTo(most float64) {
	x.t.Helper()
	bound := x.bound().USD()
	x.eventually("the price", func() bool { return x.allRun() && x.perHour().USD() <= bound*most })
	x.whole.Logf("%.3f per hour, the bound is %.3f", x.perHour().USD(), bound)
}

// capacity says whether the cloud has capacity, and waits until this is so.
func (x *karpenter) capacity(enough bool) {
	ctx := x.t.Context()
	if enough {
		policies := x.Client.AdmissionregistrationV1()
		require.NoError(x.t, policies.MutatingAdmissionPolicyBindings().Delete(ctx, "no-capacity", metav1.DeleteOptions{}))
		require.NoError(x.t, policies.MutatingAdmissionPolicies().Delete(ctx, "no-capacity", metav1.DeleteOptions{}))
	} else {
		require.NoError(x.t, x.Apply(ctx, "testdata/no-capacity.yaml"))
	}
	class := map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": map[string]any{"name": "probe"},
		"spec": map[string]any{"nodeClassRef": class, "requirements": []any{}},
	}}
	x.eventually("the policy holds", func() bool {
		got, err := x.claims.Create(ctx, probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		require.NoError(x.t, err)
		name, _, _ := unstructured.NestedString(got.Object, "spec", "nodeClassRef", "name")
		return (name == "default") == enough
	})
}

// metric is the sum of a metric of the shadow, over the series that have all labels.
func (x *karpenter) metric(name string, labels ...string) (sum float64) {
	address := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(x.shadow.Log())
	if address == nil {
		return 0
	}
	q, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, "http://"+address[1]+"/metrics", http.NoBody)
	require.NoError(x.t, err)
	answer, err := http.DefaultClient.Do(q)
	require.NoError(x.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(x.t, err)
	for line := range strings.SplitSeq(string(text), "\n") {
		series, value, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(series, "plimsoll_shadow_"+name+"{") || slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(series, l) }) {
			continue
		}
		n, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
		require.NoError(x.t, err)
		sum += n
	}
	return sum
}

// mayOnlyRead checks that the API server lets a user get, list and watch, and nothing else but ask who and what it may.
func (x *karpenter) mayOnlyRead(user string) {
	client, err := kubernetes.NewForConfig(x.As(user))
	require.NoError(x.t, err)
	ctx := x.t.Context()
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, "plimsoll"} {
		review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace}}
		got, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, review, metav1.CreateOptions{})
		require.NoError(x.t, err)
		require.False(x.t, got.Status.Incomplete)
		pods := false
		for _, rule := range got.Status.ResourceRules {
			pods = pods || slices.Contains(rule.Resources, "pods")
			if slices.Contains(rule.APIGroups, "authorization.k8s.io") || slices.Contains(rule.APIGroups, "authentication.k8s.io") {
				continue
			}
			require.Subset(x.t, []string{"get", "list", "watch"}, rule.Verbs, "%v", rule)
			require.NotContains(x.t, rule.Resources, "secrets")
			require.NotContains(x.t, rule.Resources, "*")
		}
		require.True(x.t, pods, "the review has the rules of the role")
	}
	err = client.CoreV1().Pods(metav1.NamespaceDefault).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	require.True(x.t, apierrors.IsForbidden(err), "%v", err)
	_, err = client.CoreV1().Secrets(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	require.True(x.t, apierrors.IsForbidden(err), "%v", err)
}

// kwokCatalog is the catalog of the NodePool in testdata/karpenter.yaml.
func kwokCatalog(t *testing.T, file string) *instancetypes.Catalog {
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	catalog, err := instancetypes.ReadKWOK(in)
	require.NoError(t, err)
	return catalog
}

// Karpenter as it is, with the shadow beside it, and then the build with Plimsoll's planners on the same cluster: its own processes,
// each with its documented permissions, beside a real API server and a real kube-scheduler.
func TestKarpenter(t *testing.T) {
	asItIs, ours := Build(t, "../karpenter", "sigs.k8s.io/karpenter/kwok"), Build(t, "../karpenter", "./cmd/karpenter-kwok")
	shadow := Build(t, "../karpenter/shadow", "./cmd/plimsoll-shadow")
	x := newKarpenter(t)
	x.part("the shadow compares launches of Karpenter as it is", func(t *testing.T) {
		x.mayOnlyRead(shadowUser)
		x.run(asItIs)
		x.shadow = x.Run(x.whole, shadowUser, shadow, []string{"--catalog=kwok:" + x.types, "--listen=127.0.0.1:0", "--consolidate-every=5s"}, nil)
		x.eventually("the shadow watches", func() bool { return strings.Contains(x.shadow.Log(), `"watching"`) })
		x.scale("web", 9)
		x.scale("api", 6)
		x.eventually("all pods run", x.allRun)
		x.eventually("the shadow has compared", func() bool {
			missing := x.perHour().USD() - x.metric("launched_dollars_per_hour_total", `by="karpenter"`)
			return missing < 0.001 && x.metric("decisions_total", `cause="launch"`, `outcome="compared"`) > 0 &&
				x.metric("cluster_dollars_per_hour", `state="lower_bound"`) > 0
		})
		require.Positive(t, x.metric("launched_dollars_per_hour_total", `by="plimsoll"`))
	})
	x.part("Plimsoll's planners take over", func(*testing.T) {
		x.run(ours)
		x.scale("web", 15)
		x.scale("api", 9)
		x.scale("cache", 6)
		x.eventually("all pods run", x.allRun)
		require.Contains(t, x.build.Log(), `"planned pods"`)
	})
	x.part("NodeClaims fail to launch", func(*testing.T) {
		x.capacity(false)
		x.scale("api", 14)
		x.eventually("a launch fails", func() bool { return strings.Contains(x.build.Log(), `"failed launching nodeclaim"`) })
		x.capacity(true)
		x.eventually("all pods run", x.allRun)
	})
	x.part("a node is interrupted and another one deleted", func(t *testing.T) {
		interrupted, deleted := "", x.nodeOf("web")
		for name, claim := range x.nodeClaims() {
			if node, _, _ := unstructured.NestedString(claim.Object, "status", "nodeName"); node == x.nodeOf("api") && node != deleted {
				interrupted = name
			}
		}
		// An interruption notice makes Karpenter delete the NodeClaim.
		if interrupted != "" {
			require.NoError(t, x.claims.Delete(t.Context(), interrupted, metav1.DeleteOptions{}))
		}
		require.NoError(t, x.Client.CoreV1().Nodes().Delete(t.Context(), deleted, metav1.DeleteOptions{}))
		x.eventually("they are gone", func() bool {
			return !slices.ContainsFunc(x.nodes(), func(n corev1.Node) bool { return n.Name == deleted }) && x.nodeClaims()[interrupted] == nil
		})
		x.eventually("all pods run", x.allRun)
	})
	x.part("the program is killed while nodes start", func(t *testing.T) {
		x.hold.Store(true)
		before := len(x.nodeClaims())
		x.scale("web", 24)
		x.eventually("nodes have joined", func() bool { n := len(x.nodeClaims()); return n > before && len(x.nodes()) >= n })
		x.run(ours)
		x.eventually("the program is back", func() bool { return strings.Contains(x.build.Log(), `"planned pods"`) })
		for line := range strings.SplitSeq(x.build.Log(), "\n") {
			launched := strings.Contains(line, `"created nodeclaim"`) && strings.Contains(line, `"controller":"provisioner"`)
			require.False(t, launched, "pods have a place on the nodes that start: %s", line)
		}
		x.hold.Store(false)
		x.eventually("all pods run", x.allRun)
	})
	x.part("Deployments scale down", func(t *testing.T) {
		if testing.Short() {
			t.Skip("Karpenter removes a few nodes each half minute")
		}
		x.scale("web", 6)
		x.scale("api", 4)
		x.scale("cache", 0)
		x.closeTo(1.3)
		x.eventually("the shadow has compared", func() bool { return x.metric("decisions_total", `cause="consolidation"`, `outcome="compared"`) > 0 })
		require.Zero(t, x.metric("decisions_total", `outcome="failed"`))
	})
}
