// Package azure holds the virtual machine sizes that Microsoft Azure sells in one
// region, East US ("eastus"): about 780 sizes with shapes, labels and prices.
//
// # What is known
//
// Names, cores, memory, GPUs and prices of Linux machines in USD per hour are facts of
// May 2025; no price is made up. A spot price is one for the whole region, as Azure
// has it, and interruption rates are not known. Sizes are those that Karpenter's Azure
// provider would offer: at least two vCPUs and 3.5 GiB of memory, no constrained
// cores, nothing for confidential computing, whole GPUs of models that AKS supports,
// nothing that was withdrawn.
//
// # What is computed
//
// Nodes are those of AKS with default settings, labelled as by Karpenter's Azure
// provider (karpenter.azure.com/sku-name, sku-family, sku-series, sku-version,
// sku-cpu, sku-memory, sku-gpu-count and so on). The instance type is the size, such
// as "Standard_D8as_v5".
//
//   - Zones are eastus-1 to eastus-3. The source does not list which zones sell a
//     size; all are assumed to, and every offering says so in Estimated.
//   - Memory is what is advertised less 7.5 %. AKS keeps a quarter of the first 4 GiB,
//     a fifth of the next 4, a tenth of the next 8, 6 % of the next 112 and 2 % of the
//     rest, and 750 MiB as eviction threshold; of the cores 6, 4, 2, 2 and then 1 %.
//     Since Kubernetes 1.29 AKS reserves less, so these figures err on the safe side.
//   - A node takes 110 pods. That is the default of the kubelet; Azure CNI Overlay
//     defaults to 250 and Azure CNI with addresses of the subnet to 30.
//   - The system disk has 128 GB. Temporary disks are not modelled.
//
// [NodeClass.Settings] tells how nodes differ that an AKSNodeClass sets up.
//
// # Sources and licences
//
// The table is made by the command in instancetypes/gen from the module
// github.com/cristim/ec2-instances-info, data of ec2instances.info under the MIT
// licence, copyright 2013 Garret Heaton; the file NOTICE in this directory has the
// terms. Azure is a trademark of its owner, who has no part in this.
package azure
