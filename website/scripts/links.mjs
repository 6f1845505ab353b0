// Checks the links of the built site without a network: each link within the site must lead to a page and, with a #,
// to an element of it; each link to a file of this repository must name one that exists.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const site = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(site)
const dist = join(site, '.vitepress/dist')
const base = '/plimsoll/'
const repository = /^https:\/\/github\.com\/plimsoll-go\/plimsoll\/(?:blob|tree)\/main\/([^#?]*)/

const files = (folder, below = '') => readdirSync(join(folder, below)).flatMap((name) => {
  const path = posix.join(below, name)
  return statSync(join(folder, path)).isDirectory() ? files(folder, path) : [path]
})
const text = new Map(files(dist).filter((f) => f.endsWith('.html')).map((f) => [f, readFileSync(join(dist, f), 'utf8')]))
const ids = new Map([...text].map(([f, html]) => [f, new Set([...html.matchAll(/\bid="([^"]+)"/g)].map((m) => m[1]))]))
let wrong = 0
let checked = 0
const complain = (page, link, why) => {
  console.error(`error: ${page}: ${link}: ${why}`)
  wrong++
}
for (const [page, html] of text) {
  if (page === '404.html') continue
  for (const [, raw] of html.matchAll(/<(?:a|img|source|link)\b[^>]*?\b(?:href|src|srcset)="([^"]+)"/g)) {
    const link = raw.replace(/&amp;/g, '&')
    checked++
    const file = repository.exec(link)
    if (file) {
      if (!existsSync(join(root, decodeURIComponent(file[1])))) complain(page, link, 'the repository has no such file')
      continue
    }
    if (/^(https?:|mailto:|data:)/.test(link)) continue
    const [path, anchor] = link.split('#')
    let target = page
    if (path) {
      target = path.startsWith('/') ? (path.startsWith(base) ? path.slice(base.length) : null) : posix.join(posix.dirname(page), path)
      if (target === null) {
        complain(page, link, `is not below ${base}`)
        continue
      }
      target = decodeURIComponent(target)
      if (target === '' || target.endsWith('/')) target += 'index.html'
      if (!existsSync(join(dist, target)) && text.has(`${target}.html`)) target += '.html'
      if (!existsSync(join(dist, target))) {
        complain(page, link, 'there is no such page')
        continue
      }
    }
    if (anchor && text.has(target) && !ids.get(target).has(decodeURIComponent(anchor))) complain(page, link, 'the page has no such heading')
  }
}
console.log(`${checked} links of ${text.size} pages checked`)
if (wrong || !checked) process.exit(1)
