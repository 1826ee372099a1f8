// The page's files run in the browser as they are; elements run in Chainlit's runner, which gives them globals.
import js from '@eslint/js';
import globals from 'globals';
import react from 'eslint-plugin-react';
import hooks from 'eslint-plugin-react-hooks';

const rules = {
  ...js.configs.recommended.rules,
  'no-unused-vars': ['error', { args: 'after-used', caughtErrors: 'none' }],
  'max-len': ['error', { code: 120, ignorePattern: '^\\s*\\[?.path., \\{ d:|d: .[mMA-Za-z0-9 .-]+.' }],
  eqeqeq: ['error', 'smart'],
  'no-var': 'error',
  'prefer-const': 'error',
};

export default [
  { ignores: ['**/node_modules/**', 'tests/frontend/*.json'] },
  { files: ['public/*.js'], languageOptions: { sourceType: 'module', globals: globals.browser }, rules },
  {
    files: ['public/elements/*.jsx'],
    plugins: { react, 'react-hooks': hooks },
    settings: { react: { version: '18' } },
    languageOptions: {
      sourceType: 'module',
      parserOptions: { ecmaFeatures: { jsx: true } },
      globals: {
        ...globals.browser,
        React: 'readonly',
        props: 'readonly',
        callAction: 'readonly',
        apiClient: 'readonly',
      },
    },
    rules: { ...rules, 'react/jsx-uses-vars': 'error', 'react-hooks/rules-of-hooks': 'error' },
  },
  { files: ['tests/frontend/*.js'], languageOptions: { sourceType: 'module', globals: globals.node }, rules },
];
