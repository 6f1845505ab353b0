package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// poolOf is a NodePool that buys one type by a class of a kind. Of EC2, only in one zone.
func poolOf(kind, instanceType string) string {
	group := map[string]string{"EC2NodeClass": "karpenter.k8s.aws", "AKSNodeClass": "karpenter.azure.com", "KWOKNodeClass": "karpenter.kwok.sh"}[kind]
	return fmt.Sprintf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec: {template: {spec: {nodeClassRef: {group: %s, kind: %s, name: own}, requirements: [
  {key: node.kubernetes.io/instance-type, operator: In, values: [%s]},
  {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}}
---
`, group, kind, instanceType)
}

// classOf is a node class.
func classOf(apiVersion, kind, body string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: own}\n%s\n---\n", apiVersion, kind, body)
}

func ec2Class(body string) string { return classOf("karpenter.k8s.aws/v1", "EC2NodeClass", body) }

// agent keeps the plan from warning of an input without DaemonSets; it runs nowhere.
const agent = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {none: such}, containers: [{name: c}]}}}
---
`

// fewTypes writes a catalog of a few types of an embedded one.
func fewTypes(t *testing.T, catalog, names string) string {
	t.Helper()
	r := run(t, "catalog", "-o", "json", "--catalog", catalog, "--filter", "name in ("+names+")")
	require.Equal(t, exitOK, r.code, r.stderr)
	return temp(t, "catalog.json", r.stdout)
}

// replicas are pods that ask for resources, with more of a pod's specification.
func replicas(n int, resources, more string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {%scontainers: [{name: c, resources: {requests: {%s}}}]}}
---
`, n, more, resources)
}

// tooLarge is a pod that asks for too much.
func tooLarge(resources, more string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: too-large}\nspec: {%scontainers: [{name: c, resources: {requests: {%s}}}]}\n---\n", more, resources)
}

// planOf is the plan for an input.
func planOf(t *testing.T, catalog, text string) *scheduling.Plan {
	t.Helper()
	r := run(t, "plan", "-o", "json", "-f", temp(t, "in.yaml", agent+text), "--catalog", catalog)
	require.Contains(t, []int{exitOK, exitUnschedulable}, r.code, r.stderr)
	return decodePlan(t, r.stdout)
}

// told are the warnings of a plan, but for those about requests that pods lack and about
// the NodePool that is assumed.
func told(plan *scheduling.Plan) (out []string) {
	for _, w := range plan.Warnings {
		if !strings.HasPrefix(w.Message, "no cpu") && !strings.HasPrefix(w.Message, "no memory") && !strings.HasPrefix(w.Message, "sets up Windows") && !strings.Contains(w.Message, "the input has no NodePool") {
			out = append(out, w.Object+": "+w.Message)
		}
	}
	return out
}

// onlyTooLarge checks that all pods have a place but the one that asks for too much.
func onlyTooLarge(t *testing.T, plan *scheduling.Plan) {
	t.Helper()
	require.Len(t, plan.Unschedulable, 1)
	require.Equal(t, "default/too-large", plan.Unschedulable[0].Pod)
	require.Empty(t, told(plan))
}

// What a machine holds is what Karpenter's provider computes for it and its node class: a
// pod that asks for all of it is placed, and one that asks for one unit more is not.
//
// The catalog's m5.large has 2 cores, 7577 MiB after the overhead of virtualisation, and
// 3 interfaces of 10 addresses, which make 3 × 9 + 2 = 29 pods. Kube-reserved are 70m (6 %
// and 1 % of the cores), 29 × 11 + 255 = 574 MiB and 1 GiB of the disk; 100 MiB and a
// tenth of the disk are kept free by eviction.
func TestNodeClassDecidesWhatAMachineHolds(t *testing.T) {
	catalog := fewTypes(t, "ec2/us-east-1", "m5.large m5d.large")
	const alias = "amiSelectorTerms: [{alias: %s@latest}]"
	al2023, bottlerocket := fmt.Sprintf(alias, "al2023"), fmt.Sprintf(alias, "bottlerocket")
	windows := fmt.Sprintf(alias, "windows2022")
	for name, tt := range map[string]struct {
		spec      string
		fits, not string // requests of one pod
		more      string // of the pod's specification
		typ       string // m5.large unless stated
	}{
		"nothing set":                        {spec: al2023, fits: "cpu: 1930m, memory: 6903Mi, ephemeral-storage: 17Gi", not: "memory: 6904Mi"},
		"systemReserved":                     {spec: al2023 + `, kubelet: {systemReserved: {cpu: "1", memory: 1Gi, ephemeral-storage: 2Gi}}`, fits: "cpu: 930m, memory: 5879Mi, ephemeral-storage: 15Gi", not: "cpu: 931m"},
		"all cores reserved":                 {spec: al2023 + `, kubelet: {systemReserved: {cpu: "2"}}`, fits: "memory: 1Gi", not: "cpu: 1m"},
		"kubeReserved":                       {spec: al2023 + `, kubelet: {kubeReserved: {cpu: 200m, memory: 1Gi}}`, fits: "cpu: 1800m, memory: 6453Mi", not: "memory: 6454Mi"},
		"evictionHard in percent":            {spec: al2023 + `, kubelet: {evictionHard: {memory.available: 5%, nodefs.available: 15%}}`, fits: "memory: 6945924710, ephemeral-storage: 16Gi", not: "memory: 6945924711"},
		"evictionHard of 100 %":              {spec: al2023 + `, kubelet: {evictionHard: {memory.available: 100%}}`, fits: "memory: 7003Mi", not: "memory: 7004Mi"},
		"evictionHard as a quantity":         {spec: al2023 + `, kubelet: {evictionHard: {memory.available: 500Mi}}`, fits: "memory: 6503Mi", not: "memory: 6504Mi"},
		"evictionSoft takes nothing":         {spec: al2023 + `, kubelet: {evictionSoft: {memory.available: 1Gi}, evictionSoftGracePeriod: {memory.available: 1m}}`, fits: "memory: 6903Mi", not: "memory: 6904Mi"},
		"maxPods of Amazon Linux":            {spec: al2023 + `, kubelet: {maxPods: 110}`, fits: "memory: 6903Mi", not: "memory: 6904Mi"},
		"maxPods of Bottlerocket":            {spec: bottlerocket + `, kubelet: {maxPods: 110}`, fits: "memory: 6012Mi", not: "memory: 6013Mi"}, // 110 × 11 + 255 = 1465
		"Windows":                            {spec: windows, fits: "memory: 6012Mi, ephemeral-storage: 44Gi, vpc.amazonaws.com/PrivateIPv4Address: 9", not: "vpc.amazonaws.com/PrivateIPv4Address: 10", more: "nodeSelector: {kubernetes.io/os: windows}, "},
		"the device of Amazon Linux":         {spec: al2023 + `, blockDeviceMappings: [{deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}}, {deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]`, fits: "ephemeral-storage: 89Gi", not: "ephemeral-storage: 90Gi"},
		"the device of Bottlerocket":         {spec: bottlerocket + `, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 4Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}}]`, fits: "ephemeral-storage: 44Gi", not: "ephemeral-storage: 45Gi"},
		"another device":                     {spec: al2023 + `, blockDeviceMappings: [{deviceName: /dev/sdz, ebs: {volumeSize: 100Gi}}]`, fits: "ephemeral-storage: 17Gi", not: "ephemeral-storage: 18Gi"},
		"the root volume":                    {spec: al2023 + `, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi}}, {deviceName: /dev/sdz, ebs: {volumeSize: 100Gi}, rootVolume: true}]`, fits: "ephemeral-storage: 89Gi", not: "ephemeral-storage: 90Gi"},
		"the last volume of one's own image": {spec: `amiFamily: Custom, amiSelectorTerms: [{id: ami-1}], blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 50Gi}}, {deviceName: /dev/sdz, ebs: {volumeSize: 100Gi}}]`, fits: "ephemeral-storage: 89Gi", not: "ephemeral-storage: 90Gi"},
		"no RAID0":                           {spec: al2023, fits: "ephemeral-storage: 17Gi", not: "ephemeral-storage: 18Gi", typ: "m5d.large"},
		"RAID0":                              {spec: al2023 + `, instanceStorePolicy: RAID0`, fits: "ephemeral-storage: 66426258176", not: "ephemeral-storage: 66426258177", typ: "m5d.large"}, // 75 GB less a tenth and 1 GiB
		"RAID0 without disks":                {spec: al2023 + `, instanceStorePolicy: RAID0`, fits: "ephemeral-storage: 17Gi", not: "ephemeral-storage: 18Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			typ := tt.typ
			if typ == "" {
				typ = "m5.large"
			}
			onlyTooLarge(t, planOf(t, catalog, ec2Class("spec: {role: nodes, tags: {team: a}, "+tt.spec+"}")+poolOf("EC2NodeClass", typ)+
				replicas(1, tt.fits, tt.more)+tooLarge(tt.not, tt.more)))
		})
	}
}

// How many pods a machine admits shows in how many machines are bought for thirty of them.
func TestNodeClassDecidesHowManyPods(t *testing.T) {
	catalog := fewTypes(t, "ec2/us-east-1", "m5.large")
	for name, tt := range map[string]struct {
		class string
		want  int // pods of the first machine
	}{
		"nothing set":                       {ec2Class("spec: {amiFamily: AL2023}"), 29},
		"maxPods":                           {ec2Class("spec: {amiFamily: AL2023, kubelet: {maxPods: 10}}"), 10},
		"podsPerCore":                       {ec2Class("spec: {amiFamily: AL2, kubelet: {podsPerCore: 4}}"), 8},
		"podsPerCore above maxPods":         {ec2Class("spec: {amiFamily: AL2, kubelet: {podsPerCore: 40, maxPods: 12}}"), 12},
		"podsPerCore of Bottlerocket":       {ec2Class("spec: {amiFamily: Bottlerocket, kubelet: {podsPerCore: 4}}"), 29},
		"podsPerCore of Windows":            {ec2Class("spec: {amiFamily: Windows2019, kubelet: {podsPerCore: 7}}"), 14},
		"a class of v1beta1":                {classOf("karpenter.k8s.aws/v1beta1", "EC2NodeClass", "spec: {amiFamily: Ubuntu}"), 29},
		"no class that decides":             {"", 29},
		"what is an expression is left out": {ec2Class(`spec: {amiFamily: AL2023, kubelet: {maxPods: "vcpus * 4"}}`), 29},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planOf(t, catalog, tt.class+poolOf("EC2NodeClass", "m5.large")+replicas(30, "cpu: 1m", ""))
			require.Empty(t, plan.Unschedulable)
			most := 0
			for _, l := range plan.Launches {
				most = max(most, len(l.Pods))
			}
			require.Equal(t, tt.want, most)
		})
	}
}

// NodePools of v1beta1 had the kubelet's settings, which Karpenter's conversion to v1 left
// in an annotation. They count in place of the class's.
func TestKubeletOfANodePool(t *testing.T) {
	catalog := fewTypes(t, "ec2/us-east-1", "m5.large")
	class := ec2Class(`spec: {amiFamily: AL2023, kubelet: {maxPods: 20, systemReserved: {cpu: "1"}}}`)
	beta := strings.Replace(poolOf("EC2NodeClass", "m5.large"), "karpenter.sh/v1\n", "karpenter.sh/v1beta1\n", 1)
	beta = strings.Replace(beta, "template: {spec: {", "template: {spec: {kubelet: {maxPods: 10}, ", 1)
	beta = strings.Replace(beta, "group: karpenter.k8s.aws,", "apiVersion: karpenter.k8s.aws/v1beta1,", 1)
	converted := strings.Replace(poolOf("EC2NodeClass", "m5.large"), "{name: general}",
		`{name: general, annotations: {compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods": 10}'}}`, 1)
	for name, pool := range map[string]string{"v1beta1": beta, "converted": converted} {
		for _, class := range []string{class, ""} {
			plan := planOf(t, catalog, class+pool+replicas(10, "cpu: 193m", ""))
			require.Empty(t, plan.Unschedulable, name)
			require.Len(t, plan.Launches, 1, name)
			require.Len(t, planOf(t, catalog, class+pool+replicas(11, "cpu: 1m", "")).Launches, 2, name)
		}
	}
	odd := strings.Replace(beta, "maxPods: 10", `maxPods: "vcpus", clusterDNS: [10.0.0.1], colour: red`, 1)
	require.Equal(t, []string{
		"NodePool/general: spec.template.spec.kubelet.colour is not known and was ignored",
		"NodePool/general: spec.template.spec.kubelet.maxPods is an expression, which is not evaluated: the default is assumed",
	}, told(planOf(t, catalog, odd+replicas(1, "cpu: 1", ""))))
	r := run(t, "plan", "--catalog", catalog, "-f", temp(t, "in.yaml", strings.Replace(beta, "maxPods: 10", "maxPods: -1, evictionHard: {memory.available: much}, podsPerCore: few", 1)))
	require.Equal(t, exitBadInput, r.code)
	require.Contains(t, r.stderr, `NodePool general: spec.template.spec.kubelet.podsPerCore: "few" is not a whole number of 32 bits`)
}

// A class buys in the zones of its subnets, which are known by their ids where the names
// are those of the account, and what its images run on.
func TestNodeClassDecidesWhereToLaunch(t *testing.T) {
	catalog := fewTypes(t, "ec2/us-east-1", "m5.large m6g.large")
	input := poolOf("EC2NodeClass", "m5.large, m6g.large") + replicas(1, "cpu: 1", "")
	for name, tt := range map[string]struct {
		status, zone, typ string
	}{
		"by name":     {"{subnets: [{id: subnet-1, zone: us-east-1d}]}", "us-east-1d", "m6g.large"},
		"by id":       {"{subnets: [{id: subnet-1, zone: us-east-1d, zoneID: use1-az2}]}", "us-east-1b", "m6g.large"},
		"by image":    {"{amis: [{id: ami-1, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}]}", "us-east-1a", "m5.large"},
		"two images":  {"{amis: [{id: ami-1, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}, {id: ami-2, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}]}", "us-east-1a", "m6g.large"},
		"no statuses": {"{}", "us-east-1a", "m6g.large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := planOf(t, catalog, ec2Class("spec: {amiFamily: AL2023}\nstatus: "+tt.status)+input)
			require.Len(t, plan.Launches, 1)
			require.Equal(t, tt.zone, plan.Launches[0].Options[0].Zone)
			require.Equal(t, tt.typ, plan.Launches[0].Options[0].InstanceType)
		})
	}
	r := run(t, "plan", "--catalog", catalog, "-f", temp(t, "in.yaml", agent+ec2Class("spec: {amiFamily: AL2023}\nstatus: {subnets: [{id: subnet-1, zone: eu-west-1a, zoneID: euw1-az1}]}")+input))
	require.Contains(t, r.stdout, "the node class or the catalog of NodePool general leaves offerings out")
	require.NotContains(t, r.stdout, "on sale again")
	require.Contains(t, r.stdout, "its node class leaves nothing to launch: the catalog has no instance type in the zones of status.subnets that its images run on")
}

// Overlays are laid over what the class has made of the catalog.
func TestNodeOverlaysComeAfterNodeClasses(t *testing.T) {
	overlay := `apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: licence}
spec: {requirements: [{key: kubernetes.io/os, operator: In, values: [windows]}], price: "0.5", capacity: {example.com/seat: 3}}
---
`
	plan := planOf(t, fewTypes(t, "ec2/us-east-1", "m5.large"), overlay+ec2Class("spec: {amiFamily: Windows2022}")+poolOf("EC2NodeClass", "m5.large")+replicas(3, "example.com/seat: 1, memory: 2004Mi", ""))
	require.Empty(t, plan.Unschedulable)
	require.Len(t, plan.Launches, 1)
	require.InDelta(t, 0.5, plan.Launches[0].Price.USD(), 1e-9)
}

// A Standard_D4s_v5 has 4 cores and 16 GiB, of which 7.5 % are the virtual machine's, 2662
// MiB kube-reserved (a quarter of 4 GiB, a fifth of 4 and a tenth of 8) and 750 MiB kept
// free by eviction.
func TestAKSNodeClass(t *testing.T) {
	aks := func(spec string) string {
		return classOf("karpenter.azure.com/v1beta1", "AKSNodeClass", "spec: "+spec) + poolOf("AKSNodeClass", "Standard_D4s_v5")
	}
	catalog := fewTypes(t, "azure/eastus", "Standard_D4s_v5")
	memory := "memory: 11743Mi" // 16384 − 1229 − 2662 − 750 = 11743
	for name, tt := range map[string]struct{ spec, fits, not, fitsMore, notMore string }{
		"nothing set": {"{}", memory + ", ephemeral-storage: 128G", "ephemeral-storage: 128001M", "nodeSelector: {kubernetes.azure.com/os-sku: Ubuntu}, ", ""},
		"a disk":      {"{osDiskSizeGB: 60, tags: {a: b}, vnetSubnetID: x}", memory + ", ephemeral-storage: 60G", "ephemeral-storage: 60001M", "", ""},
		"maxPods":     {"{maxPods: 250, kubelet: {cpuManagerPolicy: static}}", memory, "memory: 11744Mi", "", ""},
		"an image":    {"{imageFamily: AzureLinux, fipsMode: FIPS}", "cpu: 1", "cpu: 1", "nodeSelector: {kubernetes.azure.com/os-sku: AzureLinux, kubernetes.azure.com/fips_enabled: 'true'}, ", "nodeSelector: {kubernetes.azure.com/os-sku: Ubuntu}, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onlyTooLarge(t, planOf(t, catalog, aks(tt.spec)+replicas(1, tt.fits, tt.fitsMore)+tooLarge(tt.not, tt.notMore)))
		})
	}
	require.Len(t, planOf(t, catalog, aks("{maxPods: 12}")+replicas(24, "cpu: 1m", "")).Launches, 2)
}

// Node classes have their faults told like all other objects.
func TestFaultsOfNodeClasses(t *testing.T) {
	for class, want := range map[string][]string{
		ec2Class("spec: {amiFamily: Suse, instanceStorePolicy: RAID1, kubelet: {maxPods: -1, podsPerCore: -2, systemReserved: {cpu: '-1', gpu: '1'}, evictionHard: {memory.available: much}}, blockDeviceMappings: [{ebs: {volumeSize: 0}}]}"): {
			`EC2NodeClass own: spec.amiFamily: "Suse" is no family of images: known are AL2, AL2023, Bottlerocket, Windows2019, Windows2022, Windows2025, Ubuntu, Custom`,
			`EC2NodeClass own: spec.instanceStorePolicy: "RAID1" is not RAID0`,
			`EC2NodeClass own: spec.kubelet.maxPods: "-1" is negative`,
			`EC2NodeClass own: spec.kubelet.podsPerCore: "-2" is negative`,
			`EC2NodeClass own: spec.kubelet.systemReserved.cpu: "-1" must not be negative`,
			`EC2NodeClass own: spec.kubelet.systemReserved.gpu: "1" is none of cpu, memory, ephemeral-storage and pid`,
			`EC2NodeClass own: spec.kubelet.evictionHard[memory.available]: "much" is neither a quantity such as "500Mi" nor a percentage`,
			`EC2NodeClass own: spec.blockDeviceMappings[0].ebs.volumeSize: "0" is not more than zero and at most 64Ti`,
		},
		ec2Class("spec: {amiFamily: AL2, kubelet: {kubeReserved: {cpu: 1e1000000000}}, blockDeviceMappings: [{ebs: {volumeSize: 1e1000000000}}]}"): {
			"is not a quantity: its exponent is too large",
		},
		ec2Class("spec: {amiFamily: AL2, kubelet: {evictionHard: {memory.available: 90Ei}}, blockDeviceMappings: [{ebs: {volumeSize: 65Ti}}]}"): {
			`spec.kubelet.evictionHard[memory.available]: "90Ei" is neither a quantity such as "500Mi" nor a percentage`,
			`spec.blockDeviceMappings[0].ebs.volumeSize: "65Ti" is not more than zero and at most 64Ti`,
		},
		ec2Class("spec: {amiSelectorTerms: [{alias: suse@latest}], kubelet: {podsPerCore: many, systemReserved: {cpu: 2}}}"): {
			`EC2NodeClass own: spec.kubelet.podsPerCore: "many" is not a whole number of 32 bits`,
			`EC2NodeClass own: spec.kubelet.systemReserved.cpu: 2 is not text: put it into quotes`,
		},
		classOf("karpenter.azure.com/v1alpha2", "AKSNodeClass", "spec: {imageFamily: BSD, maxPods: 0, osDiskSizeGB: -1}"): {
			`AKSNodeClass own: spec.maxPods: "0" is not more than zero`,
			`AKSNodeClass own: spec.osDiskSizeGB: "-1" is not more than zero`,
			`AKSNodeClass own: spec.imageFamily: "BSD" is no family of images`,
		},
	} {
		r := run(t, "plan", "--catalog", "testdata/market.json", "-f", temp(t, "in.yaml", class+poolOf("EC2NodeClass", "m5.large")+replicas(1, "cpu: 1", "")))
		require.Equal(t, exitBadInput, r.code)
		for _, line := range want {
			require.Contains(t, r.stderr, line)
		}
	}
}

// What bears on what is launched and is not read is named, once for each class.
func TestWarningsOfNodeClasses(t *testing.T) {
	catalog := fewTypes(t, "ec2/us-east-1", "m5.large")
	pods := replicas(1, "cpu: 1", "")
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n---\n"
	second := strings.Replace(poolOf("EC2NodeClass", "m5.large"), "general", "second", 1)
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"fields that are not read": {
			ec2Class("spec: {amiFamily: AL2023, userData: x, associatePublicIPAddress: true, subnetSelectorTerms: [{id: s}], cpuOptions: {nestedVirtualization: enabled}, kubelet: {maxPods: vcpus * 9, systemReserved: {cpu: vcpus * 0.1}, colour: red}}") + poolOf("EC2NodeClass", "m5.large"),
			[]string{
				"EC2NodeClass/own: field spec.kubelet.colour is not known for a EC2NodeClass and was left out",
				"EC2NodeClass/own: spec.associatePublicIPAddress, spec.cpuOptions, spec.kubelet.maxPods, spec.kubelet.systemReserved.cpu, spec.subnetSelectorTerms, spec.userData bear on what is launched, and are not read; the zones of subnets are known from the status, as kubectl get prints it",
			},
		},
		"a field that is not read": {
			ec2Class("spec: {amiFamily: AL2023, placementGroupSelector: {name: a}, subnetSelectorTerms: [{id: s}]}\nstatus: {subnets: [{zone: us-east-1a}]}") + poolOf("EC2NodeClass", "m5.large"),
			[]string{"EC2NodeClass/own: spec.placementGroupSelector bears on what is launched, and is not read"},
		},
		"a class that nobody uses": {ec2Class("spec: {amiFamily: AL2023, userData: x}"), nil},
		"a class that a dump lacks": {
			node + poolOf("EC2NodeClass", "m5.large") + second,
			[]string{"NodePool/general: its EC2NodeClass own is not in the input, so defaults are assumed for the capacity of nodes, such as Amazon Linux 2023 and a root volume of 20 GiB; add the output of kubectl get ec2nodeclasses -o json (and 1 more)"},
		},
		"a class that manifests lack": {poolOf("EC2NodeClass", "m5.large"), nil},
		"a class that is misspelt": {
			strings.Replace(ec2Class("spec: {amiFamily: AL2023}"), "own", "won", 1) + poolOf("EC2NodeClass", "m5.large"),
			[]string{"NodePool/general: its EC2NodeClass own is not in the input, so defaults are assumed for the capacity of nodes, such as Amazon Linux 2023 and a root volume of 20 GiB; add the output of kubectl get ec2nodeclasses -o json"},
		},
		"a class of KWOK": {classOf("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "spec: {nodeRegistrationDelay: 3s}") + poolOf("KWOKNodeClass", "m5.large"), nil},
		"a size of AKS":   {classOf("karpenter.azure.com/v1beta1", "AKSNodeClass", "spec: {security: {encryptionAtHost: true}}") + poolOf("AKSNodeClass", "m5.large"), []string{"AKSNodeClass/own: spec.security bears on what is launched, and is not read"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, told(planOf(t, catalog, tt.text+pods)))
		})
	}
	windows := planOf(t, catalog, ec2Class("spec: {amiFamily: Windows2025}")+poolOf("EC2NodeClass", "m5.large")+replicas(1, "cpu: 1, memory: 1Gi", ""))
	require.Len(t, windows.Warnings, 1)
	require.Equal(t, "EC2NodeClass/own", windows.Warnings[0].Object)
	require.Equal(t, "sets up Windows, and the prices of embedded catalogs are those of Linux", windows.Warnings[0].Message)
}
