package scheduling

// KubeletAnnotation holds, as JSON, the kubelet settings that a NodePool of v1beta1 had in its
// template. They replace the settings of its node class, where v1 has them, because Karpenter
// converts NodePools in this way.
const KubeletAnnotation = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
