// Package azure holds the virtual machine sizes that Microsoft Azure sells, region by region:
// about 900 sizes in 57 regions, with shapes, labels and prices, embedded in some 330 kB.
//
// # What is known
//
// Figures are facts from public sources, at the dates that [Catalog]'s provenance states, and
// no price is made up. Prices are those of Linux nodes in USD per hour. Sizes are those that
// Karpenter's Azure provider would offer: at least two vCPUs and 3.5 GiB of memory, no
// constrained cores, nothing for confidential computing, whole GPUs of models that AKS supports.
//
//   - On demand: those of June 2026. Of some sizes of the series as_v5, ads_v5 and B that list has
//     the price of Windows. They are recognised by the price of Windows for each core, and carry
//     the price of May 2025 where there is one; elsewhere they are left out of the region. The file
//     crosscheck.md in this directory sets this list beside that of 2025.
//   - Spot: those of May 2025, one for the whole region, as Azure has it. 12 newer regions have
//     none in the source, and neither have newer sizes: they are not sold as spot here. For
//     decisions about money feed current ones by [instancetypes.Catalog.WithPrices].
//     Interruption rates are not known.
//
// # What is computed
//
// Nodes are those of AKS with default settings, labelled as by Karpenter's Azure
// provider (karpenter.azure.com/sku-name, sku-family, sku-series, sku-version,
// sku-cpu, sku-memory, sku-gpu-count and so on). The instance type is the size, such
// as "Standard_D8as_v5".
//
//   - Labels that no source tells have no value here: sku-networking-accelerated of half of the
//     sizes, sku-storage-ephemeralos-maxsize and sku-hyperv-generation of all. NodePools that
//     require them launch fewer nodes, or none.
//   - Zones are eastus-1 to eastus-3 and the like, and "0" in regions without zones. The
//     sources do not list which zones sell a size; all are assumed to, and every offering says
//     so in Estimated.
//   - Memory is the advertised memory less 7.5 %. AKS keeps a quarter of the first 4 GiB, a fifth
//     of the next 4, a tenth of the next 8, 6 % of the next 112 and 2 % of the rest, and 750 MiB as
//     eviction threshold; of the cores 6, 4, 2, 2 and then 1 %. Since Kubernetes 1.29 AKS reserves
//     less, so these figures err on the safe side.
//   - A node takes 110 pods. That is the default of the kubelet; Azure CNI Overlay
//     defaults to 250 and Azure CNI with addresses of the subnet to 30.
//   - The system disk has 128 GB. Temporary disks are not modelled.
//
// [NodeClass.Settings] tells how nodes differ that an AKSNodeClass sets up.
//
// # Sources and licences
//
// The tables are made by the command in instancetypes/gen. They hold facts taken from
// github.com/Azure/karpenter-provider-azure and github.com/kubernetes/autoscaler, under the
// Apache License 2.0, and from github.com/cristim/ec2-instances-info, data of
// ec2instances.info under the MIT licence, copyright 2013 Garret Heaton. The file NOTICE in this
// directory has the terms. Azure is a trademark of its owner, who has no part in this.
package azure
