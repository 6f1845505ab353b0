package redact

import "strings"

// meaning is the treatment of texts below a field.
type meaning int

const (
	unread  meaning = iota // by plans: the field is taken out
	literal                // words of Kubernetes or of a provider, quantities, times
	named                  // names of objects
	key                    // keys of labels
	labels                 // a map of labels, or a selector
	amounts                // a map of resources
)

// fields are the fields that plans read, at any depth, with the treatment of their texts.
func fields() map[string]meaning {
	out := map[string]meaning{}
	for what, names := range map[meaning]string{
		literal: `apiVersion kind group metadata spec status items creationTimestamp deletionTimestamp deletionGracePeriodSeconds
			uid generation observedGeneration ownerReferences controller blockOwnerDeletion annotations
			containers initContainers resources ports hostPort containerPort hostIP protocol restartPolicy
			affinity nodeAffinity podAffinity podAntiAffinity requiredDuringSchedulingIgnoredDuringExecution
			preferredDuringSchedulingIgnoredDuringExecution required nodeSelectorTerms matchExpressions matchFields operator weight
			preference podAffinityTerm tolerations effect tolerationSeconds topologySpreadConstraints maxSkew whenUnsatisfiable
			minDomains nodeAffinityPolicy nodeTaintsPolicy priority preemptionPolicy schedulingGates volumes persistentVolumeClaim
			ephemeral volumeClaimTemplate csi driver terminationGracePeriodSeconds hostNetwork os resourceClaims activeDeadlineSeconds
			schedulingGroup workloadRef phase conditions type reason lastTransitionTime containerStatuses initContainerStatuses startTime
			resize taints startupTaints timeAdded unschedulable
			template volumeClaimTemplates replicas completions parallelism suspend jobTemplate schedule completionMode
			succeeded failed active ready readyReplicas currentReplicas availableReplicas updatedReplicas minReplicas maxReplicas scaleTargetRef
			minAvailable maxUnavailable unhealthyPodEvictionPolicy disruptionsAllowed currentHealthy desiredHealthy expectedPods
			accessModes volumeMode claimRef provisioner volumeBindingMode allowedTopologies matchLabelExpressions
			awsElasticBlockStore gcePersistentDisk azureDisk drivers count globalDefault scheduling scopes scopeSelector
			requirements minValues nodeClassRef expireAfter terminationGracePeriod disruption consolidationPolicy consolidateAfter
			budgets nodes duration reasons lastPodEventTime price priceAdjustment
			amiFamily amiSelectorTerms alias blockDeviceMappings deviceName ebs volumeSize rootVolume instanceStorePolicy subnetSelectorTerms
			subnets zone zoneID amis kubelet maxPods podsPerCore osDiskSizeGB imageFamily fipsMode
			priorities machineFamily machineType spot minCores minMemoryGb gpu location zones autoscalingPolicy consolidationDelayMinutes
			consolidationThreshold nodePoolConfig disks sizeGiB category boot imageSelectorTerms family
			kubeletConfiguration provider providerRef consolidation enabled ttlSecondsAfterEmpty ttlSecondsUntilExpired
			maxSpotPercent minOnDemand provisioningStrategy podTemplateRef scalableRef apiGroup percentage profiles pluginConfig args defaultConstraints defaultingType scoringStrategy`,
		named: `name generateName namespace nodeName value values namespaces claimName volumeName storageClassName priorityClassName runtimeClassName
			nominatedNodeName schedulerName providerID volumeHandle volumeID pdName diskName diskURI handler id
			nodepools resourceClaimName resourceClaimTemplateName podGroupName`,
		key:     `key topologyKey topologyKeys matchLabelKeys mismatchLabelKeys`,
		labels:  `labels nodeLabels matchLabels nodeSelector selector labelSelector namespaceSelector podSelector`,
		amounts: `requests limits capacity allocatable allocatedResources overhead podFixed hard used default defaultRequest min max kubeReserved systemReserved evictionHard`,
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = what
		}
	}
	return out
}

// annotations are those that plans read: the values of literal ones stay, in others names are replaced.
func annotations() map[string]meaning {
	out := map[string]meaning{}
	for what, keys := range map[meaning]string{
		literal: `karpenter.sh/do-not-disrupt karpenter.sh/do-not-evict cluster-autoscaler.kubernetes.io/safe-to-evict
			cluster-autoscaler.kubernetes.io/scale-down-disabled controller.kubernetes.io/pod-deletion-cost
			karpenter.sh/nodepool-hash karpenter.sh/nodepool-hash-version compatibility.karpenter.sh/v1beta1-kubelet-conversion
			deployment.kubernetes.io/revision batch.kubernetes.io/job-completion-index kubernetes.io/config.mirror
			storageclass.kubernetes.io/is-default-class storageclass.beta.kubernetes.io/is-default-class pv.kubernetes.io/bind-completed`,
		named: `volume.beta.kubernetes.io/storage-class scheduling.k8s.io/group-name scheduling.volcano.sh/group-name kueue.x-k8s.io/queue-name`,
	} {
		for name := range strings.FieldsSeq(keys) {
			out[name] = what
		}
	}
	return out
}
