//! The tree of skills, for browsing.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Skill, SkillIndex,
    lineage::{INDEX, ROOT, short_name},
};

/// A skill and its descendants. A folder without a skill of its own has an empty description and no keywords.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillNode {
    /// The name within its folder.
    pub name: String,
    /// The path, for `get_skill` and `get_asset`.
    pub path: String,
    /// What it is for.
    pub description: String,
    /// Keywords for skill routing.
    pub keywords: Vec<String>,
    /// Number of assets.
    pub asset_count: usize,
    /// Number of scripts.
    pub script_count: usize,
    /// Child skills.
    pub children: Vec<SkillNode>,
    /// Number of descendants omitted because the tree is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// The call that lists the omitted skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

impl SkillNode {
    /// Returns one page of the tree: skips the first `offset` children and keeps at most `max_nodes` nodes, breadth
    /// first. Omitted nodes are counted, with the call that lists them.
    pub fn page(mut self, offset: usize, max_nodes: usize) -> Self {
        self.children.drain(..offset.min(self.children.len()));
        let mut page = self.cut(max_nodes);
        page.add_hints(offset);
        page
    }

    /// Sets `more` on each node with omitted descendants. `before` is the number of this node's children that the page
    /// skips.
    fn add_hints(&mut self, before: usize) {
        if self.omitted.is_some() {
            let offset = before + self.children.len();
            let path =
                if self.path.is_empty() { String::new() } else { format!("path {:?} and ", self.path) };
            self.more = Some(format!("call list_skills with {path}offset {offset}"));
        }
        self.children.iter_mut().for_each(|child| child.add_hints(0));
    }

    fn cut(self, max_nodes: usize) -> Self {
        let mut levels = Vec::new();
        self.count(0, &mut levels);
        let mut left = max_nodes;
        let whole = levels
            .iter()
            .take_while(|nodes| left.checked_sub(**nodes).map(|rest| left = rest).is_some())
            .count();
        self.truncate(0, whole, &mut left)
    }

    /// Counts the nodes of each level.
    fn count(&self, level: usize, levels: &mut Vec<usize>) {
        if levels.len() <= level {
            levels.resize(level + 1, 0);
        }
        if let Some(nodes) = levels.get_mut(level) {
            *nodes += 1;
        }
        self.children.iter().for_each(|child| child.count(level + 1, levels));
    }

    /// Keeps the levels that fit entirely, and as many nodes of the next level as are left.
    fn truncate(mut self, level: usize, whole: usize, left: &mut usize) -> Self {
        let mut omitted = 0;
        let children = std::mem::take(&mut self.children);
        for child in children {
            let fits = level + 1 < whole
                || (level + 1 == whole && left.checked_sub(1).map(|rest| *left = rest).is_some());
            if fits {
                self.children.push(child.truncate(level + 1, whole, left));
            } else {
                omitted += child.size();
            }
        }
        self.omitted = (omitted > 0).then_some(omitted);
        self
    }

    /// Number of nodes, including this one.
    fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }
}

impl SkillIndex {
    /// All skills, as one tree.
    pub fn tree(&self) -> SkillNode {
        let root = self.get(ROOT).map_or_else(|| folder(""), node);
        let children = self
            .skills()
            .iter()
            .enumerate()
            .filter(|(_, skill)| skill.parent.is_none() && skill.path.as_str() != ROOT);
        let mut children: Vec<SkillNode> = children.map(|(at, _)| self.subtree(at)).collect();
        if let Some(at) = self.position(ROOT) {
            children.extend(self.children(at));
        }
        SkillNode { children, ..root }
    }

    /// The subtree at the path of a skill or folder; `None` if there is none.
    pub fn subtree_at(&self, path: &str) -> Option<SkillNode> {
        let path = path.trim_matches('/');
        if path == ROOT {
            return Some(self.tree());
        }
        if let Some(at) = self.position(path).or_else(|| self.position(&format!("{path}/{INDEX}"))) {
            return Some(self.subtree(at));
        }
        // A folder without a skill of its own: list the skills in it whose parent is outside.
        let inside =
            |skill: &Skill| skill.path.as_str().strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let topmost = |skill: &Skill| {
            inside(skill) && !skill.parent.and_then(|at| self.skills().get(at)).is_some_and(inside)
        };
        let children: Vec<SkillNode> = (self.skills().iter().enumerate().filter(|(_, skill)| topmost(skill)))
            .map(|(at, _)| self.subtree(at))
            .collect();
        (!children.is_empty()).then(|| SkillNode { children, ..folder(path) })
    }

    fn subtree(&self, at: usize) -> SkillNode {
        let node = self.skills().get(at).map_or_else(|| folder(""), node);
        SkillNode { children: self.children(at), ..node }
    }

    fn children(&self, at: usize) -> Vec<SkillNode> {
        self.children_of(at).iter().map(|child| self.subtree(*child)).collect()
    }
}

fn node(skill: &Skill) -> SkillNode {
    SkillNode {
        name: short_name(skill.path.as_str()).to_owned(),
        path: skill.path.to_string(),
        description: skill.description.clone(),
        keywords: skill.keywords.clone(),
        asset_count: skill.assets.len(),
        script_count: skill.scripts.len(),
        children: Vec::new(),
        omitted: None,
        more: None,
    }
}

fn folder(path: &str) -> SkillNode {
    SkillNode {
        name: short_name(path).to_owned(),
        path: path.to_owned(),
        description: String::new(),
        keywords: Vec::new(),
        asset_count: 0,
        script_count: 0,
        children: Vec::new(),
        omitted: None,
        more: None,
    }
}
