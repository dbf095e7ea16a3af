/** A job of the analysis socket as a hook: it runs while the component is shown, and is cancelled when it changes or goes. */
import { useEffect, useRef, useState } from "./ui.js";
import { AnalysisSocket } from "./server.js";

/**
 * @param {any} job a message of docs/protocol.md, or null for none
 * @returns {{answer: any, error: string}} the answer to this job so far
 */
export function useAnalysis(job) {
  const socket = useRef(/** @type {AnalysisSocket|null} */ (null));
  const [latest, setLatest] = useState(/** @type {{key: string, answer: any, error: string}} */ ({ key: "", answer: null, error: "" }));
  const key = job ? JSON.stringify(job) : "";
  const current = useRef(key);
  current.current = key;

  useEffect(() => () => socket.current?.close(), []);
  useEffect(() => {
    if (!job) return socket.current?.stop();
    socket.current ??= new AnalysisSocket(() => {});
    socket.current.heard = (answer) => {
      if (current.current !== key) return;
      if (answer.type === "refused") setLatest({ key, answer: null, error: answer.error });
      else setLatest((was) => ({ key, answer: { ...(was.key === key ? was.answer : {}), ...answer }, error: "" })); // an answer may tell its progress alone
    };
    socket.current.start(job);
  }, [key]);
  return latest.key === key ? latest : { answer: null, error: "" };
}
