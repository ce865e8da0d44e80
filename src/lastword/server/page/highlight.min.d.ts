// What is used of highlight.js, which is here as its makers publish it.

interface Scope {
  scope?: string;
  children: (Scope | string)[];
}
declare const hljs: {
  getLanguage(name: string): object | undefined;
  highlight(
    code: string,
    options: { language: string; ignoreIllegals: boolean },
  ): { _emitter: { rootNode: Scope } };
};
export type { Scope };
export default hljs;
