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
// commands of the cloud. Karpenter launches nodes by itself. Comments before them say how to pause consolidation and when to plan
// again. It is one subshell that ends with the first command that fails, that leaves out nodes that no longer exist, and that
// waits for Enter where consolidation must be paused, nodes must be ready or pods must be running, so that it may be pasted as
// a whole.
func runbookOf(in *Input) string {
	if len(in.Plan.Steps) == 0 {
		return ""
	}
	w := runbook{groups: in.NodeGroups, nodes: map[string]*corev1.Node{}, shell: map[string]string{
		"pause": "pause() { printf '%s Press Enter: ' \"$1\"; read -r _ </dev/tty; }\n",
		"existing": `existing() { # command, --, nodes: runs the command with those of the nodes that still exist
  count=
  for word in "$@"; do
    shift
    if [ -n "$count" ]; then
      found=$(kubectl get node "$word" --ignore-not-found -o name) || exit 1
      if [ -z "$found" ]; then echo "Skipped: node $word no longer exists."; continue; fi
      count=$((count + 1))
    elif [ "$word" = -- ]; then count=0; continue; fi
    set -- "$@" "$word"
  done
  if [ "$count" -gt 0 ]; then "$@"; fi
}
`,
		"pending": "pending() { kubectl get pods -A --field-selector status.phase=Pending 2>&1; }\n",
		"drain": `drain() {
  kubectl drain "$@" --ignore-daemonsets --delete-emptydir-data --timeout=15m
  printf '%s\n' 'Pods that were pending before step 1:' "$before" 'Pods that are pending now:'
  pending
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
		fmt.Fprintf(&w.steps, "existing drain%s --%s\n", force, quoted(s.Drain...))
		w.remove(s.Drain)
	}
	var b strings.Builder
	b.WriteString(preparation(in) + "(\nset -e\n")
	for _, name := range slices.Sorted(maps.Keys(w.shell)) {
		b.WriteString(w.shell[name])
	}
	b.WriteString("pause 'Is consolidation paused?'\nbefore=$(pending)\n")
	if len(in.Plan.Cordon) > 0 {
		fmt.Fprintf(&b, "\n# Before step 1: keep evicted pods off the nodes that will be removed.\nexisting kubectl cordon --%s\n", quoted(in.Plan.Cordon...))
	}
	return b.String() + w.steps.String() + ")\n\n# If you stop before the last step: kubectl uncordon the nodes of the steps that are not done.\n# Afterwards resume consolidation.\n"
}

// preparation is the comments before the commands: the time of the plan, and how to pause and resume the consolidation of
// the autoscalers that the cluster's nodes may have.
func preparation(in *Input) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# This plan is of %s. If that is more than an hour ago, plan again.\n# Run it with sh from a file, or paste it into bash.\n", printable(in.AsOf))
	b.WriteString("# First pause consolidation, because it would act on a cluster that is half changed.\n")
	ofGKE := map[string]bool{}
	for _, node := range in.Cluster.Nodes {
		ofGKE[node.Labels[scheduling.NodePoolLabel]] = node.Labels[gkeNodePool] != ""
	}
	var pools []string
	grouped := false
	for _, pool := range in.Cluster.NodePools {
		if group, is := in.NodeGroups[pool.Name]; is && !group.Karpenters() || ofGKE[pool.Name] {
			grouped = true
		} else {
			pools = append(pools, printable(pool.Name))
		}
	}
	if len(pools) > 0 {
		fmt.Fprintf(&b, `# Karpenter:
#   for pool in%[1]s; do
#     kubectl get nodepool "$pool" -o json | jq '{spec: {disruption: {budgets: .spec.disruption.budgets}}}' > "budgets-$pool.json"
#     kubectl patch nodepool "$pool" --type merge -p '{"spec":{"disruption":{"budgets":[{"nodes":"0"}]}}}'
#   done
# Afterwards resume it:
#   for pool in%[1]s; do kubectl patch nodepool "$pool" --type merge --patch-file "budgets-$pool.json"; done
`, quoted(pools...))
	}
	if grouped {
		b.WriteString(`# Cluster Autoscaler:
#   kubectl annotate node --all cluster-autoscaler.kubernetes.io/scale-down-disabled=true
# Afterwards resume it:
#   kubectl annotate node --all cluster-autoscaler.kubernetes.io/scale-down-disabled-
`)
	}
	return b.String() + "\n"
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
	counts, resized := map[kind]int{}, map[string]bool{}
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
  size=$(aws eks describe-nodegroup --cluster-name "$CLUSTER" --nodegroup-name "$1" --query nodegroup.scalingConfig.desiredSize --output text)
  aws eks update-nodegroup-config --cluster-name "$CLUSTER" --nodegroup-name "$1" --scaling-config "desiredSize=$((size + $2))"
}
`
			fmt.Fprintf(&w.steps, "eks_launch%s %d\n", quoted(group.Name), n)
		case gkeNodePool:
			w.cluster()
			w.location()
			w.shell["gke_launch"] = `gke_launch() { # node pool, number of nodes in each of its zones, because gcloud resizes all of them, number of planned nodes
  nodes=$(kubectl get nodes -l "cloud.google.com/gke-nodepool=$1" -L topology.kubernetes.io/zone --no-headers)
  size=$(echo "$nodes" | awk 'NF {n = ++zone[$NF]; if (n > most) most = n} END {print most + 0}')
  zones=$(gcloud container node-pools describe "$1" --cluster "$CLUSTER" --location "$LOCATION" --format 'value(locations)')
  gcloud container clusters resize "$CLUSTER" --location "$LOCATION" --node-pool "$1" --num-nodes "$((size + $2))" --quiet
  surplus=$(($(echo "$zones" | tr ';' '\n' | wc -l) * (size + $2) - $(echo "$nodes" | awk NF | wc -l) - $3))
  if [ "$surplus" -gt 0 ]; then
    echo "gcloud gives each zone of node pool $1 the same number of nodes, so that $surplus more start than planned."
    echo "After the last step remove $surplus of its nodes that run only DaemonSet pods, each with:"
    echo "gcloud compute instance-groups managed delete-instances GROUP --zone ZONE --instances NODE"
  fi
}
`
			if most, all := launchesOf(launches, k.pool); !resized[k.pool] {
				resized[k.pool] = true
				fmt.Fprintf(&w.steps, "gke_launch%s %d %d\n", quoted(group.Name), most, all)
			}
		case aksNodePool:
			w.cluster()
			w.resourceGroup()
			w.shell["aks_launch"] = `aks_launch() { # node pool, number of nodes
  size=$(az aks nodepool show --resource-group "$RESOURCE_GROUP" --cluster-name "$CLUSTER" --name "$1" --query count --output tsv)
  az aks nodepool scale --resource-group "$RESOURCE_GROUP" --cluster-name "$CLUSTER" --name "$1" --node-count "$((size + $2))"
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
			w.shell["gke_remove"] = `# Names of managed instance groups are derived from node names: check them with gcloud container node-pools describe.
gke_remove() { # managed instance group, zone, node
  gcloud compute instance-groups managed delete-instances "$1" --zone "$2" --instances "$3"
}
`
			fmt.Fprintf(&w.steps, "existing gke_remove%s --%s\n", quoted(instanceGroupOf(name), as.Zone), quoted(name))
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
		fmt.Fprintf(&w.steps, "existing kubectl delete node --%s\n", quoted(deleted...))
	}
	if len(terminated) > 0 {
		w.shell["eks_terminate"] = `eks_terminate() { # nodes
  for node in "$@"; do
    aws autoscaling terminate-instance-in-auto-scaling-group --should-decrement-desired-capacity --instance-id "$(
      kubectl get node "$node" -o 'jsonpath={.spec.providerID}' | sed 's|.*/||')"
  done
}
`
		fmt.Fprintf(&w.steps, "existing eks_terminate --%s\n", quoted(terminated...))
	}
	for _, pool := range slices.Sorted(maps.Keys(machines)) {
		w.cluster()
		w.resourceGroup()
		fmt.Fprintf(&w.steps, "existing az aks nodepool delete-machines --resource-group \"$RESOURCE_GROUP\" --cluster-name \"$CLUSTER\" --name%s --machine-names --%s\n", quoted(pool), quoted(machines[pool]...))
	}
	if len(left) > 0 {
		fmt.Fprintf(&w.steps, "pause%s\n", quoted(printable("Remove "+strings.Join(left, ", ")+" from the node group.")))
	}
}

// cluster, location and resourceGroup demand the variables that the commands of clouds read.
func (w *runbook) cluster() {
	w.shell["CLUSTER"] = ": \"${CLUSTER:?set it to the name of the cluster}\"\n"
}
func (w *runbook) location() {
	w.shell["LOCATION"] = ": \"${LOCATION:?set it to the zone or region of the cluster}\"\n"
}
func (w *runbook) resourceGroup() {
	w.shell["RESOURCE_GROUP"] = ": \"${RESOURCE_GROUP:?set it to the resource group of the cluster}\"\n"
}

// launchesOf is the number of nodes that a NodePool launches: the most in one zone, and in all zones.
func launchesOf(launches []scheduling.Launch, pool string) (most, all int) {
	zones := map[string]int{}
	for i := range launches {
		if zone := launches[i].Options[0].Zone; launches[i].NodePool == pool {
			all++
			zones[zone]++
			most = max(most, zones[zone])
		}
	}
	return most, all
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
