package report

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// runbookOf returns the commands for the steps of a plan, in their order, as a shell reads them: the cordon of all nodes that
// the steps remove, then for each step the launches of node groups, a drain, and the removal of the drained nodes, in the
// commands of the cloud. Karpenter launches nodes by itself. It is one subshell that ends with the first command that fails,
// and that waits for Enter where nodes must be ready or pods must be running, so that it may be pasted as a whole.
func runbookOf(in *Input) string {
	if len(in.Plan.Steps) == 0 {
		return ""
	}
	w := runbook{groups: in.NodeGroups, nodes: map[string]*corev1.Node{}, shell: map[string]string{
		"pause": "pause() { printf '%s Press Enter: ' \"$1\"; read -r _ </dev/tty; }\n",
		"drain": `drain() {
  kubectl drain "$@" --ignore-daemonsets --delete-emptydir-data --timeout=15m
  kubectl get pods -A --field-selector status.phase=Pending
  pause 'Are all evicted pods running?'
}
`,
	}}
	for _, node := range in.Cluster.Nodes {
		w.nodes[node.Name] = node
	}
	for i := range in.Plan.Steps {
		s := &in.Plan.Steps[i]
		fmt.Fprintf(&w.steps, "\n# Step %d of %d, %s\n", i+1, len(in.Plan.Steps), s.Reason)
		w.launch(s.Launches)
		force := ""
		if slices.ContainsFunc(s.Risks, func(r disruption.Risk) bool { return r.Code == disruption.RiskUnmanagedPod }) {
			force = " --force"
		}
		fmt.Fprintf(&w.steps, "drain%s%s\n", quoted(s.Drain...), force)
		w.remove(s.Drain)
	}
	var b strings.Builder
	b.WriteString("(\nset -e\n")
	for _, name := range slices.Sorted(maps.Keys(w.shell)) {
		b.WriteString(w.shell[name])
	}
	if len(in.Plan.Cordon) > 0 {
		fmt.Fprintf(&b, "\n# Before step 1: keep evicted pods off the nodes that will be removed.\nkubectl cordon%s\n", quoted(in.Plan.Cordon...))
	}
	return b.String() + w.steps.String() + ")\n\n# If you stop before the last step: kubectl uncordon the nodes of the steps that are not done.\n"
}

// runbook is the steps of a runbook while they are written.
type runbook struct {
	groups map[string]manifest.NodeGroup // by NodePool
	nodes  map[string]*corev1.Node       // by name
	steps  strings.Builder
	// shell are the variables and functions that the steps need, by name.
	shell map[string]string
}

// The labels of node groups whose cloud has commands to launch and to remove single nodes.
const (
	eksNodeGroup = "eks.amazonaws.com/nodegroup"
	gkeNodePool  = "cloud.google.com/gke-nodepool"
	aksNodePool  = "kubernetes.azure.com/agentpool"
)

// launch writes the launches of a step: a command for each node group and zone, or, for a node pool without one, a pause
// that names them.
func (w *runbook) launch(launches []scheduling.Launch) {
	type kind struct{ pool, zone, offering string }
	counts := map[kind]int{}
	for i := range launches {
		o := &launches[i].Options[0]
		counts[kind{launches[i].NodePool, o.Zone, o.InstanceType + " " + string(o.CapacityType)}]++
	}
	for _, k := range slices.SortedFunc(maps.Keys(counts), func(a, b kind) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
		n := counts[k]
		nodes := fmt.Sprintf("%s (%s)", figures.Count(n, "node"), k.offering)
		group, grouped := w.groups[k.pool]
		if !grouped || group.Karpenters() {
			fmt.Fprintf(&w.steps, "# NodePool %s launches %s in zone %s for the evicted pods.\n", printable(k.pool), printable(nodes), printable(k.zone))
			continue
		}
		switch group.Label {
		case eksNodeGroup:
			w.cluster()
			w.shell["eks_launch"] = `eks_launch() { # node group, number of nodes
  aws eks update-nodegroup-config --cluster-name "$CLUSTER" --nodegroup-name "$1" --scaling-config "desiredSize=$(( $(
    aws eks describe-nodegroup --cluster-name "$CLUSTER" --nodegroup-name "$1" --query nodegroup.scalingConfig.desiredSize --output text) + $2 ))"
}
`
			fmt.Fprintf(&w.steps, "eks_launch%s %d\n", quoted(group.Name), n)
		case gkeNodePool:
			if managed := w.instanceGroup(k.pool, k.zone); managed != "" {
				w.shell["gke_launch"] = `gke_launch() { # managed instance group, zone, number of nodes
  gcloud compute instance-groups managed resize "$1" --zone "$2" --size "$(( $(
    gcloud compute instance-groups managed describe "$1" --zone "$2" --format 'value(targetSize)') + $3 ))"
}
`
				fmt.Fprintf(&w.steps, "gke_launch%s %d\n", quoted(managed, k.zone), n)
			}
		case aksNodePool:
			w.cluster()
			w.resourceGroup()
			w.shell["aks_launch"] = `aks_launch() { # node pool, number of nodes
  az aks nodepool scale --resource-group "$RESOURCE_GROUP" --cluster-name "$CLUSTER" --name "$1" --node-count "$(( $(
    az aks nodepool show --resource-group "$RESOURCE_GROUP" --cluster-name "$CLUSTER" --name "$1" --query count --output tsv) + $2 ))"
}
`
			fmt.Fprintf(&w.steps, "aks_launch%s %d\n", quoted(group.Name), n)
		}
		fmt.Fprintf(&w.steps, "pause%s\n", quoted(printable(fmt.Sprintf("Wait for %s of node group %s in zone %s.", nodes, group.Name, k.zone))))
	}
}

// remove writes the removal of drained nodes: by the cloud for those of node groups, and by Karpenter for all others, which
// terminates the instance of a node that is deleted.
func (w *runbook) remove(drained []string) {
	var deleted, terminated, left []string
	machines := map[string][]string{} // by node pool of AKS
	for _, name := range drained {
		node := w.nodes[name]
		if node == nil {
			node = &corev1.Node{}
		}
		group, grouped := w.groups[node.Labels[scheduling.NodePoolLabel]]
		switch {
		case node.Labels[gkeNodePool] != "":
			as := instancetypes.OfferingOf(node)
			fmt.Fprintf(&w.steps, "gcloud compute instance-groups managed delete-instances%s --zone%s --instances%s\n", quoted(instanceGroupOf(name)), quoted(as.Zone), quoted(name))
		case !grouped || group.Karpenters():
			deleted = append(deleted, name)
		case group.Label == eksNodeGroup:
			terminated = append(terminated, name)
		case group.Label == aksNodePool:
			machines[group.Name] = append(machines[group.Name], name)
		default:
			left = append(left, name)
		}
	}
	if len(deleted) > 0 {
		fmt.Fprintf(&w.steps, "kubectl delete node%s\n", quoted(deleted...))
	}
	if len(terminated) > 0 {
		w.shell["eks_terminate"] = `eks_terminate() { # nodes
  for node in "$@"; do
    aws autoscaling terminate-instance-in-auto-scaling-group --should-decrement-desired-capacity --instance-id "$(
      kubectl get node "$node" -o 'jsonpath={.spec.providerID}' | sed 's|.*/||')"
  done
}
`
		fmt.Fprintf(&w.steps, "eks_terminate%s\n", quoted(terminated...))
	}
	for _, pool := range slices.Sorted(maps.Keys(machines)) {
		w.cluster()
		w.resourceGroup()
		fmt.Fprintf(&w.steps, "az aks nodepool delete-machines --resource-group \"$RESOURCE_GROUP\" --cluster-name \"$CLUSTER\" --name%s --machine-names%s\n", quoted(pool), quoted(machines[pool]...))
	}
	if len(left) > 0 {
		fmt.Fprintf(&w.steps, "pause%s\n", quoted(printable("Remove "+strings.Join(left, ", ")+" from the node group.")))
	}
}

// cluster and resourceGroup demand the variables that the commands of clouds read.
func (w *runbook) cluster() {
	w.shell["CLUSTER"] = ": \"${CLUSTER:?set it to the name of the cluster}\"\n"
}
func (w *runbook) resourceGroup() {
	w.shell["RESOURCE_GROUP"] = ": \"${RESOURCE_GROUP:?set it to the resource group of the cluster}\"\n"
}

// instanceGroup is the managed instance group of a GKE node pool in a zone, as a node that it has there shows; "" if it has
// none.
func (w *runbook) instanceGroup(pool, zone string) string {
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if node := w.nodes[name]; node.Labels[scheduling.NodePoolLabel] == pool && instancetypes.OfferingOf(node).Zone == zone {
			return instanceGroupOf(name)
		}
	}
	return ""
}

// instanceGroupOf is the managed instance group of a node of GKE: gke-prod-pool-1a2b3c4d-grp of gke-prod-pool-1a2b3c4d-x7kq.
func instanceGroupOf(node string) string {
	return node[:max(strings.LastIndexByte(node, '-'), 0)] + "-grp"
}

var unquoted = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// quoted are texts as arguments of a shell, each after a space.
func quoted(texts ...string) string {
	return strings.Join(lo.Map(texts, func(text string, _ int) string {
		if unquoted.MatchString(text) {
			return " " + text
		}
		return " '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}), "")
}
