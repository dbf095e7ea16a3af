/** What the page uses of Preact's hooks. */
export function useCallback<T extends (...parts: any[]) => any>(call: T, inputs: unknown[]): T;
export function useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useRef<T>(first: T): { current: T };
export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
