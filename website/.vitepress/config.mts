import { readdirSync } from 'node:fs'
import { defineConfig } from 'vitepress'

const repository = 'https://github.com/plimsoll-go/plimsoll'

// packages are the generated pages of Go packages.
const packages = readdirSync(new URL('../reference/go', import.meta.url))
  .filter((f) => f.endsWith('.md') && f !== 'index.md')
  .map((f) => ({ text: f.slice(0, -3).replace(/-/g, '/'), link: `/reference/go/${f.slice(0, -3)}` }))

export default defineConfig({
  title: 'Plimsoll',
  description: 'Works out which nodes your pods need, and which you can remove',
  base: '/plimsoll/',
  lang: 'en',
  srcExclude: ['README.md', 'drawings/**', 'tables/**'],
  lastUpdated: false,
  markdown: { theme: { light: 'github-light', dark: 'github-dark' } },
  themeConfig: {
    outline: [2, 3],
    aside: false,
    search: { provider: 'local' },
    externalLinkIcon: true,
    socialLinks: [{ icon: 'github', link: repository }],
    nav: [
      { text: 'Start', link: '/start/', activeMatch: '/start/' },
      { text: 'Act on a plan', link: '/guide/act' },
      { text: 'Concepts', link: '/concepts/', activeMatch: '/concepts/' },
      { text: 'Recipes', link: '/recipes/', activeMatch: '/recipes/' },
      { text: 'Library', link: '/library/', activeMatch: '/library/' },
      { text: 'Reference', link: '/reference/', activeMatch: '/reference/' },
    ],
    sidebar: [
      {
        text: 'Start in five minutes',
        items: [
          { text: 'Install and choose', link: '/start/' },
          { text: 'EKS with Karpenter', link: '/start/eks-karpenter' },
          { text: 'EKS Auto Mode', link: '/start/eks-auto-mode' },
          { text: 'EKS node groups', link: '/start/eks-node-groups' },
          { text: 'GKE', link: '/start/gke' },
          { text: 'AKS', link: '/start/aks' },
          { text: 'Your own machines', link: '/start/own-machines' },
        ],
      },
      {
        text: 'Use',
        items: [
          { text: 'Act on a plan', link: '/guide/act' },
          { text: 'Inside Karpenter', link: '/guide/karpenter' },
          { text: 'Cluster Autoscaler', link: '/guide/cluster-autoscaler' },
          { text: 'Recipes', link: '/recipes/' },
          { text: 'Troubleshooting', link: '/guide/troubleshooting' },
        ],
      },
      {
        text: 'Concepts',
        items: [
          { text: 'Overview', link: '/concepts/' },
          { text: 'Step and wave', link: '/concepts/steps' },
          { text: 'Lower bound', link: '/concepts/lower-bound' },
          { text: 'Placement', link: '/concepts/placement' },
          { text: 'Disruption and score', link: '/concepts/disruption-score' },
          { text: 'Rebuilt from scratch', link: '/concepts/rebuilt' },
          { text: 'Blocked savings', link: '/concepts/blocked-savings' },
          { text: 'Node overhead', link: '/concepts/node-overhead' },
          { text: 'Prices and their age', link: '/concepts/prices' },
        ],
      },
      { text: 'Go library', items: [{ text: 'Library guide', link: '/library/' }] },
      {
        text: 'Reference',
        items: [
          { text: 'Overview', link: '/reference/' },
          { text: 'Commands and flags', link: '/reference/commands' },
          { text: 'JSON fields', link: '/reference/json' },
          { text: 'Go packages', link: '/reference/go/', collapsed: true, items: packages },
          { text: 'Glossary', link: '/reference/glossary' },
        ],
      },
      {
        text: 'Background',
        items: [
          { text: 'Comparison with other tools', link: '/guide/comparison' },
          { text: 'Benchmarks', link: '/guide/benchmarks' },
        ],
      },
    ],
  },
})
