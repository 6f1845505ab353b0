package main

import (
	"fmt"
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/azure"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/instancetypes/gcp"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// group are nodes that are launched alike.
type group struct {
	name   string
	share  int // of the cluster's nodes, in percent
	types  []string
	spot   bool
	labels map[string]string
	taint  *corev1.Taint
	pool   *pool // the NodePool of Karpenter that owns its nodes
}

// pool is a NodePool of Karpenter.
type pool struct {
	name         string
	requirements []any
	disruption   map[string]any
}

// vendor is a kind of cluster.
type vendor struct {
	kind    string
	catalog *instancetypes.Catalog
	groups  []group
	daemons []*appsv1.DaemonSet
	mirror  string            // a static pod of every node
	system  []*workload       // workloads that the vendor and the operators of nodes deploy
	extra   map[string]string // labels of the cloud that every node has
	rename  func(key string) string
	driver  string // of disks
	zoneKey string // by which the driver tells zones
	disks   int64  // how many a node takes
	class   map[string]any
	ref     map[string]any // by which NodePools name the class
	objects []any
}

func kinds() []string { return []string{"eks-karpenter", "eks-auto", "eks-nodegroups", "gke", "aks"} }

func vendorOf(kind string) (*vendor, bool) {
	makers := map[string]func() *vendor{"eks-karpenter": eksKarpenter, "eks-auto": eksAuto, "eks-nodegroups": eksNodeGroups, "gke": gke, "aks": aks}
	of, ok := makers[kind]
	if !ok {
		return nil, false
	}
	v := of()
	v.kind = kind
	return v, true
}

func agent(namespace, name string, cpu, memory int64, opts ...st.PodOption) *appsv1.DaemonSet {
	opts = append([]st.PodOption{st.Namespace(namespace), st.Requests(st.MilliCPU(cpu), st.MiB(memory)), st.Priority(2000001000)}, opts...)
	return st.DaemonSet(name, opts...)
}

// agents returns the DaemonSets that users add to those of the vendor. The last one tolerates no taints.
func agents() []*appsv1.DaemonSet {
	return []*appsv1.DaemonSet{
		agent("monitoring", "node-exporter", 50, 64, st.TolerateAll(), st.HostPort(9100)),
		agent("logging", "vector-agent", 100, 200, st.TolerateAll(), st.Limits(st.MiB(400))),
		agent("security", "image-scanner", 20, 100),
	}
}

func awsDaemons() []*appsv1.DaemonSet {
	return append([]*appsv1.DaemonSet{
		agent("kube-system", "aws-node", 50, 0, st.TolerateAll()), agent("kube-system", "kube-proxy", 100, 0, st.TolerateAll()),
		agent("kube-system", "ebs-csi-node", 30, 120, st.TolerateAll()), agent("kube-system", "eks-pod-identity-agent", 0, 0, st.TolerateAll()),
	}, agents()...)
}

func requirement(key, operator string, values ...string) map[string]any {
	r := map[string]any{"key": key, "operator": operator}
	if len(values) > 0 {
		r["values"] = values
	}
	return r
}

// consolidating returns the disruption block of most NodePools; without budgets it holds Karpenter's default of 10 %.
func consolidating(after string, budgets ...any) map[string]any {
	if len(budgets) == 0 {
		budgets = []any{map[string]any{"nodes": "10%"}}
	}
	return map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": after, "budgets": budgets}
}

func noSchedule(key, value string) *corev1.Taint {
	return &corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoSchedule}
}

func aws(region string) *vendor {
	return &vendor{
		catalog: ec2.MustCatalog(region), daemons: awsDaemons(), driver: "ebs.csi.aws.com", zoneKey: corev1.LabelTopologyZone, disks: 25,
		extra: map[string]string{"k8s.io/cloud-provider-aws": "f438d641244774ab"},
		system: []*workload{
			systemService("coredns", 2, 100, 70), systemService("metrics-server", 2, 100, 200), systemService("ebs-csi-controller", 2, 60, 240),
			systemService("aws-load-balancer-controller", 2, 100, 128),
		},
	}
}

func nodeGroup(name string, share int, spot bool, types ...string) group {
	capacity := "ON_DEMAND"
	if spot {
		capacity = "SPOT"
	}
	return group{name: name, share: share, types: types, spot: spot, labels: map[string]string{
		"eks.amazonaws.com/nodegroup": name, "eks.amazonaws.com/capacityType": capacity, "eks.amazonaws.com/nodegroup-image": "ami-0d3a2960fcac852bc",
	}}
}

func eksKarpenter() *vendor {
	v := aws("eu-west-1")
	amd, arm := requirement(corev1.LabelArchStable, "In", "amd64"), requirement(corev1.LabelArchStable, "In", "arm64")
	categories, current := requirement("karpenter.k8s.aws/instance-category", "In", "c", "m", "r"), requirement("karpenter.k8s.aws/instance-generation", "Gt", "4")
	capacity := func(values ...string) any { return requirement(offerings.CapacityTypeLabel, "In", values...) }
	general := &pool{"general", []any{amd, categories, current, capacity("spot", "on-demand")}, consolidating("5m",
		map[string]any{"nodes": "20%"}, map[string]any{"nodes": "0", "schedule": "0 7 * * mon-fri", "duration": "1h", "reasons": []string{"Underutilized"}})}
	data := &pool{"data", []any{amd, requirement("karpenter.k8s.aws/instance-category", "In", "r", "m"), current, capacity("on-demand")}, consolidating("30m")}
	batch := &pool{"batch", []any{amd, categories, current, capacity("spot")}, map[string]any{"consolidationPolicy": "WhenEmpty", "consolidateAfter": "2m"}}
	graviton := &pool{"graviton", []any{arm, categories, current, capacity("spot", "on-demand")}, consolidating("1m")}
	v.groups = []group{
		nodeGroup("system", 6, false, "m5.large"),
		{name: "general-spot", share: 34, types: []string{"m5.xlarge", "m6i.xlarge", "c5.2xlarge", "r5.xlarge", "m5a.2xlarge"}, spot: true, pool: general},
		{name: "general", share: 24, types: []string{"m6i.xlarge", "m5.xlarge", "c6i.2xlarge", "m6i.2xlarge"}, pool: general},
		{name: "data", share: 14, types: []string{"r6i.xlarge", "r5.xlarge", "m6i.xlarge"}, pool: data, labels: map[string]string{"example.com/tier": "data"}},
		{name: "batch", share: 10, types: []string{"c5.2xlarge", "m5.2xlarge"}, spot: true, pool: batch, taint: noSchedule("example.com/batch", "true")},
		{name: "graviton", share: 12, types: []string{"m7g.xlarge", "c7g.xlarge"}, pool: graviton, taint: noSchedule("kubernetes.io/arch", "arm64")},
	}
	v.system = append(v.system, systemService("karpenter", 2, 500, 512, st.Where(st.DoesNotExist(scheduling.NodePoolLabel))))
	v.ref = map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
	v.class = map[string]any{
		"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": map[string]any{"name": "default", "uid": uid("EC2NodeClass", "default")},
		"spec": map[string]any{
			"amiSelectorTerms": []any{map[string]any{"alias": "al2023@v20261015"}}, "role": "KarpenterNodeRole-prod",
			"subnetSelectorTerms":        []any{map[string]any{"tags": map[string]any{"karpenter.sh/discovery": "prod"}}},
			"securityGroupSelectorTerms": []any{map[string]any{"tags": map[string]any{"karpenter.sh/discovery": "prod"}}},
			"blockDeviceMappings":        []any{map[string]any{"deviceName": "/dev/xvda", "ebs": map[string]any{"volumeSize": "50Gi", "volumeType": "gp3"}}},
		},
		"status": map[string]any{"subnets": []any{
			map[string]any{"id": "subnet-0a1", "zone": "eu-west-1a", "zoneID": "euw1-az1"}, map[string]any{"id": "subnet-0b2", "zone": "eu-west-1b", "zoneID": "euw1-az2"},
			map[string]any{"id": "subnet-0c3", "zone": "eu-west-1c", "zoneID": "euw1-az3"},
		}},
	}
	return v
}

func eksAuto() *vendor {
	v := aws("us-east-2")
	v.daemons, v.system = agents(), []*workload{systemService("metrics-server", 2, 100, 200)} // the rest runs outside of the cluster
	v.driver, v.zoneKey, v.rename = "ebs.csi.eks.amazonaws.com", corev1.LabelTopologyZone, ec2.AutoLabel
	v.extra = map[string]string{ec2.AutoComputeType: "auto", "eks.amazonaws.com/nodeclass": "default"}
	standard := []any{
		requirement("eks.amazonaws.com/instance-category", "In", "c", "m", "r"), requirement("eks.amazonaws.com/instance-generation", "Gt", "4"),
		requirement(corev1.LabelOSStable, "In", "linux"),
	}
	with := func(more ...any) []any { return append(append([]any{}, standard...), more...) }
	onDemand := requirement(offerings.CapacityTypeLabel, "In", "on-demand")
	system := &pool{"system", with(onDemand, requirement(corev1.LabelArchStable, "In", "amd64", "arm64")), consolidating("30s")}
	general := &pool{"general-purpose", with(onDemand, requirement(corev1.LabelArchStable, "In", "amd64")), consolidating("30s")}
	spot := &pool{"spot", with(requirement(offerings.CapacityTypeLabel, "In", "spot"), requirement(corev1.LabelArchStable, "In", "amd64"),
		requirement("eks.amazonaws.com/instance-cpu", "In", "4", "8", "16")), consolidating("5m")}
	v.groups = []group{
		{name: "system", share: 6, types: []string{"c6g.large"}, pool: system, taint: noSchedule("CriticalAddonsOnly", "")},
		{name: "general-purpose", share: 54, types: []string{"c6a.xlarge", "m5a.xlarge", "m6a.xlarge", "m6a.2xlarge", "c6a.2xlarge"}, pool: general},
		{name: "spot", share: 40, types: []string{"m6a.xlarge", "c6a.2xlarge", "r6a.xlarge", "m5.xlarge"}, spot: true, pool: spot},
	}
	v.ref = map[string]any{"group": ec2.AutoGroup, "kind": "NodeClass", "name": "default"}
	v.class = map[string]any{
		"apiVersion": ec2.AutoGroup + "/v1", "kind": "NodeClass", "metadata": map[string]any{"name": "default", "uid": uid("NodeClass", "default")},
		"spec": map[string]any{"role": "AmazonEKSAutoNodeRole", "networkPolicy": "DefaultAllow", "snatPolicy": "Random", "ephemeralStorage": map[string]any{"size": "80Gi"}},
	}
	return v
}

func eksNodeGroups() *vendor {
	v := aws("us-east-1")
	v.zoneKey = "topology.ebs.csi.aws.com/zone"
	memory := nodeGroup("memory", 14, false, "r5.xlarge")
	memory.labels["example.com/tier"], memory.taint = "data", noSchedule("example.com/tier", "data")
	v.groups = []group{nodeGroup("system", 8, false, "m5.large"), nodeGroup("general", 48, false, "m5.xlarge"), nodeGroup("spot", 30, true, "m5.2xlarge", "m5a.2xlarge", "m4.2xlarge"), memory}
	v.system = append(v.system, systemService("cluster-autoscaler", 1, 100, 600))
	return v
}

func gke() *vendor {
	named := func(name string, spot bool) map[string]string {
		labels := map[string]string{"cloud.google.com/gke-nodepool": name, "cloud.google.com/gke-provisioning": "standard", "cloud.google.com/gke-boot-disk": "pd-balanced"}
		if spot {
			labels["cloud.google.com/gke-provisioning"], labels["cloud.google.com/gke-spot"] = "spot", "true"
		}
		return labels
	}
	class := named("nap-n2d-1f0c", false)
	class["cloud.google.com/compute-class"] = "cost-optimized"
	classSpot := named("nap-n2d-spot-77ab", true)
	classSpot["cloud.google.com/compute-class"] = "cost-optimized"
	own := noSchedule("cloud.google.com/compute-class", "cost-optimized")
	v := &vendor{
		catalog: gcp.MustCatalog("europe-west4"), driver: "pd.csi.storage.gke.io", zoneKey: "topology.gke.io/zone", disks: 15, mirror: "kube-proxy",
		extra: map[string]string{
			"cloud.google.com/gke-container-runtime": "containerd", "cloud.google.com/gke-os-distribution": "cos", "cloud.google.com/gke-max-pods-per-node": "110",
			"cloud.google.com/private-node": "false", "cloud.google.com/gke-netd-ready": "true",
		},
		rename: func(key string) string {
			if strings.HasPrefix(key, "karpenter.") || key == "gke-provisioning" || key == "topology.k8s.gcp/zone-id" {
				return ""
			}
			return key
		},
		groups: []group{
			{name: "default-pool", share: 46, types: []string{"e2-standard-4"}, labels: named("default-pool", false)},
			{name: "spot-pool", share: 22, types: []string{"n2-standard-4"}, spot: true, labels: named("spot-pool", true), taint: noSchedule("cloud.google.com/gke-spot", "true")},
			{name: "highmem", share: 14, types: []string{"n2-highmem-4"}, labels: named("highmem", false)},
			{name: "nap-n2d", share: 6, types: []string{"n2d-standard-4", "n2d-standard-8"}, labels: class, taint: own},
			{name: "nap-n2d-spot", share: 12, types: []string{"n2d-standard-4", "n2d-standard-8"}, spot: true, labels: classSpot, taint: own},
		},
		daemons: append([]*appsv1.DaemonSet{
			agent("kube-system", "fluentbit-gke", 100, 200, st.TolerateAll()), agent("kube-system", "gke-metrics-agent", 11, 115, st.TolerateAll()),
			agent("kube-system", "pdcsi-node", 10, 20, st.TolerateAll()), agent("kube-system", "netd", 2, 30, st.TolerateAll()), agent("gmp-system", "collector", 5, 36, st.TolerateAll()),
		}, agents()...),
		system: []*workload{systemService("kube-dns", 2, 270, 130), systemService("metrics-server", 1, 48, 105), systemService("konnectivity-agent", 3, 10, 30), systemService("event-exporter-gke", 1, 1, 30)},
	}
	v.objects = []any{map[string]any{
		"apiVersion": "cloud.google.com/v1", "kind": "ComputeClass", "metadata": map[string]any{"name": "cost-optimized", "uid": uid("ComputeClass", "cost-optimized")},
		"spec": map[string]any{
			"priorities":           []any{map[string]any{"machineFamily": "n2d", "spot": true}, map[string]any{"machineFamily": "n2d"}},
			"nodePoolAutoCreation": map[string]any{"enabled": true}, "whenUnsatisfiable": "DoNotScaleUp",
			"autoscalingPolicy": map[string]any{"consolidationDelayMinutes": 5},
		},
	}}
	return v
}

func aks() *vendor {
	named := func(name, mode string, spot bool) map[string]string {
		labels := map[string]string{"kubernetes.azure.com/agentpool": name, "agentpool": name, "kubernetes.azure.com/mode": mode, "kubernetes.azure.com/os-sku": "Ubuntu"}
		if spot {
			labels["kubernetes.azure.com/scalesetpriority"] = "spot"
		}
		return labels
	}
	memory := named("memory", "user", false)
	memory["example.com/tier"] = "data"
	return &vendor{
		catalog: azure.MustCatalog("westeurope"), driver: "disk.csi.azure.com", zoneKey: "topology.disk.csi.azure.com/zone", disks: 8,
		extra: map[string]string{"kubernetes.azure.com/cluster": "MC_prod_prod_westeurope", "kubernetes.azure.com/role": "agent"},
		rename: func(key string) string {
			if strings.HasPrefix(key, "karpenter.") || strings.HasPrefix(key, "kubernetes.azure.com/s") {
				return ""
			}
			return key
		},
		groups: []group{
			{name: "system", share: 8, types: []string{"Standard_D4s_v5"}, labels: named("system", "system", false), taint: noSchedule("CriticalAddonsOnly", "true")},
			{name: "apps", share: 50, types: []string{"Standard_D4s_v5"}, labels: named("apps", "user", false)},
			{name: "memory", share: 14, types: []string{"Standard_E4s_v5"}, labels: memory},
			{name: "spot", share: 28, types: []string{"Standard_D8as_v5"}, spot: true, labels: named("spot", "user", true), taint: noSchedule("kubernetes.azure.com/scalesetpriority", "spot")},
		},
		daemons: append([]*appsv1.DaemonSet{
			agent("kube-system", "azure-cns", 40, 250, st.TolerateAll()), agent("kube-system", "azure-ip-masq-agent", 100, 50, st.TolerateAll()), agent("kube-system", "kube-proxy", 100, 0, st.TolerateAll()),
			agent("kube-system", "cloud-node-manager", 50, 50, st.TolerateAll()), agent("kube-system", "csi-azuredisk-node", 30, 60, st.TolerateAll()), agent("kube-system", "csi-azurefile-node", 30, 60, st.TolerateAll()),
		}, agents()...),
		system: []*workload{systemService("coredns", 2, 100, 70), systemService("metrics-server", 2, 156, 136), systemService("konnectivity-agent", 2, 20, 20), systemService("azure-policy", 1, 30, 50)},
	}
}

// nodePool is the object of a pool of the group.
func (v *vendor) nodePool(g *group) map[string]any {
	template := map[string]any{"nodeClassRef": v.ref, "requirements": g.pool.requirements, "expireAfter": "720h"}
	if g.taint != nil {
		template["taints"] = []any{g.taint}
	}
	if v.ref["group"] == ec2.AutoGroup {
		template["expireAfter"], template["terminationGracePeriod"] = "480h", "24h0m0s"
	}
	labels := maps.Clone(g.labels)
	return map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
		"metadata": map[string]any{"name": g.pool.name, "uid": uid("NodePool", g.pool.name), "annotations": map[string]any{"karpenter.sh/nodepool-hash-version": "v3"}},
		"spec": map[string]any{
			"template":   map[string]any{"metadata": map[string]any{"labels": labels}, "spec": template},
			"disruption": g.pool.disruption, "limits": map[string]any{"cpu": "1000", "memory": "4000Gi"}, "weight": 10,
		},
	}
}

// offer is a machine of the group in a zone.
func (v *vendor) offer(g *group, name, zone string) (*instancetypes.InstanceType, offerings.Offering, error) {
	want := offerings.OnDemand
	if g.spot {
		want = offerings.Spot
	}
	for t := range v.catalog.All() {
		if t.Name != name {
			continue
		}
		for _, o := range t.Offerings {
			if o.Zone == zone && o.CapacityType == want {
				return t, o, nil
			}
		}
	}
	return nil, offerings.Offering{}, fmt.Errorf("%s is not sold %s in %s", name, want, zone)
}
