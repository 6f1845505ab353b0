package schedulingtest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a quantity of one resource.
type Amount struct {
	Name     corev1.ResourceName
	Quantity resource.Quantity
}

// MilliCPU is n thousandths of a core.
func MilliCPU(n int64) Amount {
	return Amount{corev1.ResourceCPU, *resource.NewMilliQuantity(n, resource.DecimalSI)}
}

// Cores is n cores.
func Cores(n int64) Amount {
	return Amount{corev1.ResourceCPU, *resource.NewQuantity(n, resource.DecimalSI)}
}

// MiB is n mebibytes of memory.
func MiB(n int64) Amount {
	return Amount{corev1.ResourceMemory, *resource.NewQuantity(n<<20, resource.BinarySI)}
}

// GiB is n gibibytes of memory.
func GiB(n int64) Amount { return MiB(n << 10) }

// DiskGiB is n gibibytes of ephemeral storage.
func DiskGiB(n int64) Amount {
	return Amount{corev1.ResourceEphemeralStorage, *resource.NewQuantity(n<<30, resource.BinarySI)}
}

// Count is n units of any resource: pods, nodes, GPUs and other devices.
func Count(name corev1.ResourceName, n int64) Amount {
	return Amount{name, *resource.NewQuantity(n, resource.DecimalSI)}
}

// Resources is the list of the amounts. Of two amounts of one resource the later
// one counts.
func Resources(amounts ...Amount) corev1.ResourceList {
	list := make(corev1.ResourceList, len(amounts))
	for _, a := range amounts {
		list[a.Name] = a.Quantity.DeepCopy()
	}
	return list
}
